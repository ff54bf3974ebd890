"""Accurate statistics from skewed data under per-record differential privacy."""

from perrecord.errors import (
    AmountError,
    ApproximationError,
    CurrencyError,
    DocumentError,
    InexactNumberError,
    InputError,
    InternalError,
    MissingFieldError,
    PerrecordError,
    ProbabilityError,
    QueryError,
    RecordError,
    SchemaError,
    SourceError,
    SQLTextError,
    ThresholdError,
    UnknownCaseError,
)
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, Enclosure
from perrecord.policy.compose import (
    OneSided,
    group_loss,
    one_sided,
    realised_loss,
    substitution_loss,
)
from perrecord.policy.meaning import Meaning, meaning, meaning_of_answer
from perrecord.policy.policy import Policy
from perrecord.policy.split import Split
from perrecord.policy.terms import Currency

__all__ = [
    "AmountError",
    "ApproximationError",
    "Currency",
    "CurrencyError",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DocumentError",
    "Enclosure",
    "InexactNumberError",
    "InputError",
    "InternalError",
    "Meaning",
    "MissingFieldError",
    "OneSided",
    "PerrecordError",
    "Policy",
    "ProbabilityError",
    "QueryError",
    "RecordError",
    "SQLTextError",
    "SchemaError",
    "SourceError",
    "Split",
    "ThresholdError",
    "UnknownCaseError",
    "group_loss",
    "meaning",
    "meaning_of_answer",
    "one_sided",
    "realised_loss",
    "substitution_loss",
]

__version__ = "0.1.0"
