"""Why a piece of SQL is not supported in a row-wise expression, and what to write instead."""

from sqlglot import exp

_LETTERS = (
    "because engines differ on letters beyond ASCII; list the spellings instead, as in "
    "state IN ('nc', 'NC')."
)
_ARITHMETIC = (
    "because it can overflow on some row, which would be an error that depends on the data; "
    "compare the column itself with a number worked out beforehand, or add a column to the source."
)
_DATES = (
    "because engines differ on dates and times; a date is text, compared as in "
    "day >= '2024-01-01' and told by YEAR(day) or DATE_TRUNC('month', day)."
)
_CLOCK = (
    "because a row's value would change from run to run; write the value itself, as in "
    "day < '2024-01-01'."
)
_OTHER_ROWS = (
    "because an expression sees one row at a time; list the values, or declare a public lookup."
)
_AGGREGATES = (
    "because an expression sees one row at a time; ask for it as a query of its own, whose answer "
    "is charged."
)
_PATTERNS = "because engines differ on patterns; write LIKE with % and _ instead."
_QUOTES = "because engines differ on it; write plain text in single quotes, as in 'NC'."
_CASTS = (
    "because a cast can fail on some row; only CAST(whole number AS VARCHAR) is, and other "
    "conversions belong in the source."
)
_PARAMETERS = "because an expression must say all that it means; write the value itself."
_NAMES = (
    "is not supported; expected comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, "
    "IS DISTINCT FROM, CASE, COALESCE, SUBSTRING, LEFT, ||, CAST(... AS VARCHAR), YEAR, QUARTER, "
    "MONTH, DAY, DATE_TRUNC, // and %."
)

_REASONS: tuple[tuple[tuple[type[exp.Expr], ...], str], ...] = (
    ((exp.Upper, exp.Lower, exp.Initcap, exp.ILike, exp.Collate), _LETTERS),
    ((exp.Div,), "because engines differ on it; write // for whole numbers."),
    ((exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Pow, exp.Abs), _ARITHMETIC),
    ((exp.Rand, exp.Randn, exp.Uuid, exp.CurrentDate, exp.CurrentTimestamp), _CLOCK),
    ((exp.CurrentTime, exp.Localtime, exp.Localtimestamp, exp.CurrentUser), _CLOCK),
    ((exp.RegexpLike, exp.RegexpILike, exp.SimilarTo, exp.Glob), _PATTERNS),
    ((exp.Escape,), "because engines differ on escapes; write the pattern without."),
    ((exp.AggFunc, exp.Window, exp.Filter, exp.WithinGroup), _AGGREGATES),
    ((exp.Query, exp.Exists, exp.Any, exp.All), _OTHER_ROWS),
    ((exp.Interval, exp.AtTimeZone), _DATES),
    ((exp.Cast,), _CASTS),
    ((exp.Placeholder, exp.Parameter, exp.PositionalColumn), _PARAMETERS),
    ((exp.ByteString, exp.National, exp.RawString, exp.HexString, exp.BitString), _QUOTES),
    ((exp.If,), "because engines differ on it; write CASE WHEN ... THEN ... ELSE ... END."),
    ((exp.Nullif,), "because CASE says the same; write CASE WHEN a = b THEN NULL ELSE a END."),
    ((exp.Tuple,), "because a value is one value; compare the columns one by one, with AND."),
    ((exp.Star,), "because an expression names its columns; write them."),
)

_SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Neg: "- before anything but a number",
    exp.Pow: "**",
    exp.RegexpLike: "a regular expression",
    exp.RegexpILike: "a regular expression",
    exp.SimilarTo: "SIMILAR TO",
    exp.ILike: "ILIKE",
    exp.Escape: "ESCAPE",
    exp.ByteString: "this kind of text",
    exp.National: "this kind of text",
    exp.RawString: "this kind of text",
    exp.HexString: "this kind of text",
    exp.BitString: "this kind of text",
    exp.Placeholder: "a parameter",
    exp.Parameter: "a parameter",
    exp.PositionalColumn: "a column's number",
    exp.Select: "a subquery",
    exp.Subquery: "a subquery",
    exp.Exists: "a subquery",
    exp.Tuple: "a list of values",
    exp.Star: "*",
    exp.Cast: "this cast",
    exp.TryCast: "TRY_CAST",
    exp.Window: "a window",
}
_CLOCKS = {"NOW", "TODAY", "GETDATE", "SYSDATE", "RANDOM", "GEN_RANDOM_UUID"}


def reason_against(node: exp.Expr, text: str) -> str:
    """Return the message that refuses a node by its name; `text` is what it was parsed from."""
    name = _name(node, text)
    if name in _CLOCKS:
        return f"{name} is not supported, {_CLOCK}"
    for kinds, reason in _REASONS:
        if isinstance(node, kinds):
            return f"{name} is not supported, {reason}"
    if type(node).__module__ == exp.CurrentDate.__module__:  # sqlglot's functions of time
        return f"{name} is not supported, {_DATES}"
    return f"{name} {_NAMES}"


def _name(node: exp.Expr, text: str) -> str:
    """Return what the author knows the node by: a function's name as written, or its sign."""
    if type(node) in _SIGNS:
        return _SIGNS[type(node)]
    if "start" in node.meta and isinstance(node, exp.Func):
        return text[node.meta["start"] : node.meta["end"] + 1].upper()
    return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()
