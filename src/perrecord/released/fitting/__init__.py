"""Tables that add up: least squares over hierarchies of published numbers (T31, T32).

Everything here is post-processing of public numbers with public variances, in floats.
"""
