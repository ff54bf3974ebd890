"""Accurate statistics from skewed data under per-record differential privacy."""

from importlib import import_module
from typing import TYPE_CHECKING

from perrecord.errors import (
    AmountError,
    ApproximationError,
    BudgetExceededError,
    CurrencyError,
    DocumentError,
    InexactNumberError,
    InputError,
    InternalError,
    LedgerError,
    MissingFieldError,
    PerrecordError,
    ProbabilityError,
    QueryError,
    RecordError,
    ReleaseError,
    SchemaError,
    SourceError,
    SpecError,
    SQLTextError,
    ThresholdError,
    UnknownCaseError,
    suggestion,
)
from perrecord.version import VERSION

if TYPE_CHECKING:
    from perrecord.accounting.budget import Budget
    from perrecord.accounting.ledger import Ledger
    from perrecord.laws import DiscreteGaussian, DiscreteLaplace, DiscreteStudent, Enclosure
    from perrecord.mechanisms.answers import Answers
    from perrecord.mechanisms.rows import RowsAnswer
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
    from perrecord.policy.weighing import Weighting
    from perrecord.preview import Preview
    from perrecord.queries.groupings import SelectCells, SelectKeys
    from perrecord.queries.methods.blurring import Blur
    from perrecord.queries.methods.parts import Parts, clamping, splitting, tapering
    from perrecord.queries.methods.tapering import Taper
    from perrecord.queries.query import Query
    from perrecord.queries.sql import SQLOptions, from_sql
    from perrecord.release.exporting import export
    from perrecord.session import Session
    from perrecord.tables.domains import Domain
    from perrecord.tables.given import Linked
    from perrecord.tables.keys import Keys
    from perrecord.tables.lookups import Lookup
    from perrecord.tables.measures import Measure
    from perrecord.tables.reading import File
    from perrecord.tables.table import Table, table
    from perrecord.tables.weights import Weight

__all__ = [
    "AmountError",
    "Answers",
    "ApproximationError",
    "Blur",
    "Budget",
    "BudgetExceededError",
    "Currency",
    "CurrencyError",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteStudent",
    "DocumentError",
    "Domain",
    "Enclosure",
    "File",
    "InexactNumberError",
    "InputError",
    "InternalError",
    "Keys",
    "Ledger",
    "LedgerError",
    "Linked",
    "Lookup",
    "Meaning",
    "Measure",
    "MissingFieldError",
    "OneSided",
    "Parts",
    "PerrecordError",
    "Policy",
    "Preview",
    "ProbabilityError",
    "Query",
    "QueryError",
    "RecordError",
    "ReleaseError",
    "RowsAnswer",
    "SQLOptions",
    "SQLTextError",
    "SchemaError",
    "SelectCells",
    "SelectKeys",
    "Session",
    "SourceError",
    "SpecError",
    "Split",
    "Table",
    "Taper",
    "ThresholdError",
    "UnknownCaseError",
    "Weight",
    "Weighting",
    "clamping",
    "export",
    "from_sql",
    "group_loss",
    "meaning",
    "meaning_of_answer",
    "one_sided",
    "realised_loss",
    "splitting",
    "substitution_loss",
    "table",
    "tapering",
]

__version__ = VERSION

_LOADED_WHEN_USED = {
    "Answers": "mechanisms.answers",
    "Blur": "queries.methods.blurring",
    "Budget": "accounting.budget",
    "Currency": "policy.terms",
    "DiscreteGaussian": "laws",
    "DiscreteLaplace": "laws",
    "DiscreteStudent": "laws",
    "Domain": "tables.domains",
    "Enclosure": "laws",
    "File": "tables.reading",
    "Keys": "tables.keys",
    "Ledger": "accounting.ledger",
    "Linked": "tables.given",
    "Lookup": "tables.lookups",
    "Meaning": "policy.meaning",
    "Measure": "tables.measures",
    "OneSided": "policy.compose",
    "Parts": "queries.methods.parts",
    "Policy": "policy.policy",
    "Preview": "preview",
    "Query": "queries.query",
    "RowsAnswer": "mechanisms.rows",
    "SQLOptions": "queries.sql",
    "SelectCells": "queries.groupings",
    "SelectKeys": "queries.groupings",
    "Session": "session",
    "Split": "policy.split",
    "Table": "tables.table",
    "Taper": "queries.methods.tapering",
    "Weight": "tables.weights",
    "Weighting": "policy.weighing",
    "clamping": "queries.methods.parts",
    "export": "release.exporting",
    "from_sql": "queries.sql",
    "group_loss": "policy.compose",
    "meaning": "policy.meaning",
    "meaning_of_answer": "policy.meaning",
    "one_sided": "policy.compose",
    "realised_loss": "policy.compose",
    "splitting": "queries.methods.parts",
    "substitution_loss": "policy.compose",
    "table": "tables.table",
    "tapering": "queries.methods.parts",
}
"""All but errors: numpy, Arrow, DuckDB and sqlglot take a while to load."""


if not TYPE_CHECKING:  # to a type checker it would make every name a public one

    def __getattr__(name: str) -> object:
        if name not in _LOADED_WHEN_USED:
            hint = suggestion(name, __all__)
            raise AttributeError(f"module 'perrecord' has no attribute {name!r}.{hint}")
        value = getattr(import_module(f"perrecord.{_LOADED_WHEN_USED[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
