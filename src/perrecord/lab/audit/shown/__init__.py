"""The figures audit: every number that people are shown, recomputed from what is published.

Nothing here uses the code that computed a figure: policies are evaluated from `policy.json` as
docs/policy-format.md defines it, specs and records are read by docs/spec.md, laws are summed term
by term, formulas are written out again. Every text has a check (`checks`), and every figure in it
is altered by a little in its turn, to see that the check would notice (`altered`).
"""
