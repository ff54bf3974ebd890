"""The experiments of the paper, figure by figure, through the library's own interface.

A folder for each topic. Its door, `experiment` (`univariate` has two, `sim` and `cis`), has the
parameters at the top, once for the full run and once for the quick one, and `run`. Measurements,
figures and claims stand in modules beside it. No experiment has a mechanism of its own, but for
`agencies`: what is used today without a formal guarantee, which `cbp` compares with.

`experiment` says what an experiment gives, `findings` makes the page of all, `reproduce` runs them.
"""
