"""SQL text -> the frozen `Query`. What is not understood is refused by name, at its place.

`clauses` allows only the clauses we read, `asked` reads the SELECT list, `groups` the GROUP BY;
`complete` proves that nothing of the text was lost on the way; `options` hands each answer its
price and method; `build` puts them together.
"""

from perrecord.queries.sql.build import from_sql
from perrecord.queries.sql.options import SQLOptions

__all__ = ["SQLOptions", "from_sql"]
