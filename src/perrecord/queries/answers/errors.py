"""The columns that stand beside an answer, by the ending of their names, and what they hold.

{0} is the name of the answer.
"""

OF_NOISE = {
    "_se": "standard deviation of the noise of {0}",
    "_low": "lower end of the confidence interval of {0}",
    "_high": "upper end of the confidence interval of {0}",
}
"""Of one noisy number."""

OF_BLURRED = {
    "_low": "lower end of the confidence interval of {0}",
    "_high": "upper end of the confidence interval of {0}; empty where there is none",
    "_sd_at_most": "what the standard deviation of the noise of {0} is at most, at the same "
    "confidence; empty where there is no bound",
}
"""Of one noisy number whose noise is confidential."""

OF_RATIOS = {
    "_se": "standard error of {0} by the delta method; too small where {0}_few_records is true",
    "_low": "lower end of the confidence interval of {0}; empty where there is none",
    "_high": "upper end of the confidence interval of {0}; empty where there is none",
    "_few_records": "true where the noisy count under {0} is too close to 0 to divide by; {0} may "
    "then be of few records or none",
}
"""Of a noisy number divided by another."""

ENDINGS = (
    *OF_RATIOS,
    "_sd_at_most",
    "_floored",
    "_rounded",
    "_status",
    "_consistent",
    "_consistent_se",
    "_consistent_low",
    "_consistent_high",
    "_consistent_nonnegative",
    "_consistent_whole",
)
"""How the names end of whatever may be published beside an answer, by a release too."""
