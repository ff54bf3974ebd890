"""The row-wise expressions of filters and derived dimensions: what they are and mean.

`kind_of` checks one against the columns, `to_sql` writes it for an engine, `evaluate` says what it
means on one record, `describe` writes it for people. `perrecord.tables.parse` reads them.
"""

from perrecord.tables.expressions.cases import as_cases
from perrecord.tables.expressions.engine import to_sql
from perrecord.tables.expressions.kinds import kind_of
from perrecord.tables.expressions.meaning import evaluate
from perrecord.tables.expressions.nodes import (
    And,
    AsText,
    Case,
    Coalesce,
    Column,
    Comparison,
    Concat,
    DatePart,
    DateStart,
    Distinct,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    Quotient,
    Remainder,
    Substring,
    Value,
    columns_of,
    parts_of,
)
from perrecord.tables.expressions.words import describe

__all__ = [
    "And",
    "AsText",
    "Case",
    "Coalesce",
    "Column",
    "Comparison",
    "Concat",
    "DatePart",
    "DateStart",
    "Distinct",
    "Expression",
    "In",
    "IsNull",
    "Like",
    "Literal",
    "Not",
    "Operator",
    "Or",
    "Quotient",
    "Remainder",
    "Substring",
    "Value",
    "as_cases",
    "columns_of",
    "describe",
    "evaluate",
    "kind_of",
    "parts_of",
    "to_sql",
]
