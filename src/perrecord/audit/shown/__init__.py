"""The figures audit: every number that people are shown, recomputed from what is published.

Nothing here uses the code that computed a figure: policies are evaluated from `policy.json` as
docs/policy-format.md defines it, laws are summed term by term, formulas are written out again.
"""
