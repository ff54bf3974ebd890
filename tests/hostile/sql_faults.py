"""Expressions, conditions and SQL of specs that are nonsense, too deep, or want more than a row."""

from random import Random

from tests.hostile import bases
from tests.hostile.cases import Builder, Case, Place, spec_case
from tests.hostile.nonsense import rendered
from tests.hostile.spec_faults import changed

_FUNCTIONS = (
    *("read_csv('/etc/passwd')", "read_text('/etc/passwd')", "read_blob('/etc/passwd')"),
    *("glob('/*')", "getenv('HOME')", "current_setting('temp_directory')", "version()", "pi()"),
    *("random()", "now()", "error(county)", "upper(county)", "regexp_matches(county, '(a+)+$')"),
    *("list_value(1)", "query('SELECT 1')", "sniff_csv('x')", "parquet_metadata('est.parquet')"),
    *("VAR_MAP(county)", "CAST(county AS INTEGER)", "county::INTEGER", "TRY_CAST(county AS INT)"),
    *("nextval('s')", "pg_sleep(100)", "repeat('x', 1000000000)", "range(1000000000)", "sqrt(emp)"),
)
_STATEMENTS = (
    *("COPY est TO 'hacked.csv'", "ATTACH 'hacked.db'", "PRAGMA database_list", "INSTALL httpfs"),
    *("CREATE TABLE hacked AS SELECT * FROM est", "DROP TABLE est", "SET threads = 1", "VACUUM"),
    *("SELECT * FROM est", "SELECT * FROM '/etc/passwd'", "FROM est", "TABLE est", "DESCRIBE est"),
    *("SELECT COUNT(*) FROM est; DROP TABLE est", "EXPLAIN SELECT 1", "CALL pragma_version()"),
    *(
        "INSERT INTO est VALUES (1)",
        "DELETE FROM est",
        "UPDATE est SET emp = 0",
        "EXPORT DATABASE 'x'",
    ),
    "SELECT county, COUNT(*) AS n FROM read_csv('est.csv') GROUP BY county",
    "SELECT county, COUNT(*) AS n FROM est JOIN est AS e ON true GROUP BY county",
    "WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT 1 FROM t) SELECT COUNT(*) FROM t",
    "SELECT county, MAX(emp) AS n FROM est GROUP BY county",
    "SELECT county, COUNT(*) AS n FROM est GROUP BY county HAVING COUNT(*) > 1",
    "SELECT county, COUNT(*) AS n FROM est GROUP BY county ORDER BY n LIMIT 1",
    "SELECT county, SUM(emp / rent) AS n FROM est GROUP BY county",
    "SELECT (SELECT emp FROM est LIMIT 1) AS n",
    "SELECT county, COUNT(*) AS n FROM est GROUP BY ALL",
    "SELECT county, COUNT(*) AS n FROM est GROUP BY CUBE (county, kind)",
    "SELECT county, COUNT(*) OVER () AS n FROM est",
    "SELECT DISTINCT county FROM est",
    "SELECT county, SUM(DISTINCT emp) AS emp FROM est GROUP BY county",
    "SELECT '\x1b[31m' AS \"\x1b[2J\", COUNT(*) AS n FROM est",
)
_WORDS = (
    *(
        "county",
        "kind",
        "emp",
        "rent",
        "region",
        "est",
        "none",
        '"county"',
        "'37'",
        "'",
        '"',
        "(",
        ")",
    ),
    *(
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "LIKE",
        "IS",
        "NULL",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "=",
    ),
    *(
        "<>",
        "<",
        ">=",
        "||",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        ",",
        ";",
        "--",
        "/*",
        "*/",
        "1",
        "1e400",
    ),
    *("0.5", "9" * 30, "SELECT", "FROM", "WHERE", "GROUP", "BY", "SUM", "COUNT", "(*)", "AS", "n"),
    *("substr(", "coalesce(", "::", "[", "]", "{", "}", "$1", "?", "@", "#1", "\\", "`", "EXISTS"),
    *(
        "x'00'",
        "E'\\x00'",
        "$$",
        "DATE '2020-01-01'",
        "INTERVAL 1 DAY",
        "TRUE",
        "\U0001f600",
        "\x1b",
    ),
)
_DEEP = (
    "(" * 30_000 + "1" + ")" * 30_000,
    "(" * 24 + "county = '1'" + ")" * 24,
    "NOT " * 20_000 + "county = '1'",
    "- " * 20_000 + "1 = emp",
    "county = '1'" + " AND county = '1'" * 5_000,
    "county = '1'" + " OR county = '1'" * 900,
    "county = '1' AND (" * 20 + "emp = 1" + ")" * 20,
    "county IN (" + ", ".join(f"'{n}'" for n in range(9_000)) + ")",
    "county" + " || county" * 3_000 + " = 'x'",
    "CASE WHEN county = '1' THEN " * 24 + "'a'" + " END" * 24 + " = 'a'",
    "CASE " + "WHEN county = '1' THEN 'a' " * 3_000 + "END = 'a'",
    "coalesce(" * 24 + "county" + ")" * 24 + " = 'a'",
    "coalesce(" + ", ".join(["county"] * 5_000) + ") = 'a'",
    "emp" + " // 2" * 2_000 + " = 1",
    "emp" + " % 7" * 2_000 + " = 1",
    "[" * 20_000,
    "{" * 20_000,
    "/*" * 40_000,
    "'" * 99_999,
    "x" * 99_999,
    "x" * 100_001,
    "county = '" + "x" * 90_000 + "'",
    "emp > " + "9" * 5_000,
    "emp > 1e99999",
    "EXISTS (SELECT " * 20 + "1" + ")" * 20,
    "county LIKE '" + "%a" * 20_000 + "'",
)


def _soup(random: Random) -> str:
    return " ".join(random.choices(_WORDS, k=random.randint(1, 25)))


def _cut(text: str, random: Random) -> str:
    place = random.randrange(len(text))
    return random.choice(
        [
            text[:place],
            text[:place] + random.choice(_WORDS) + text[place:],
            text[:place] + text[place + 1 :],
        ]
    )


def _condition(random: Random, turn: int) -> str:
    good = "kind IN ('11', '21') AND emp >= 0 AND substr(county, 1, 2) = '37'"
    function = random.choice(_FUNCTIONS)
    choices = (
        _soup(random),
        _cut(good, random),
        f"{function} = '1'",
        random.choice(_STATEMENTS),
        f"{good} /* {function} */; {random.choice(_STATEMENTS)}",
        _DEEP[turn // 5 % len(_DEEP)],
    )
    return choices[turn % len(choices)]


def where(random: Random, turn: int) -> Case:
    """Put a bad condition in place of a good one."""
    text = _condition(random, turn)
    return _built("a bad condition", "pure", ("queries", 0, "where"), text, random)


def dimension(random: Random, turn: int) -> Case:
    """Put a bad expression in place of a dimension's."""
    text = _condition(random, turn)
    return _built("a bad expression", "simple", ("dimensions", "state"), text, random)


def query(random: Random, turn: int) -> Case:
    """Put bad SQL in place of a query's."""
    good = bases.values_of("sql")["queries"][0]["sql"]
    if turn % 4 == 0:
        text = random.choice(_STATEMENTS)
    elif turn % 4 == 1:
        text = _cut(_cut(good, random), random)
    elif turn % 4 == 2:
        text = good.replace("region = 'South'", _condition(random, turn // 4))
    else:
        text = f"SELECT {_soup(random)} FROM est GROUP BY {random.choice(_WORDS)}"
    return _built("bad SQL", "sql", ("queries", 0, "sql"), text, random)


def _built(kind: str, base: str, place: Place, text: str, random: Random) -> Case:
    value = changed(bases.values_of(base), place, text)
    spec = rendered(value).replace("SOURCE", "est.parquet")
    is_certain = text in _STATEMENTS  # none is a condition or gives the answers that are priced
    return spec_case(
        kind, repr(text[:60]), base, spec, random, must_refuse=is_certain, places=(place,)
    )


BUILDERS: dict[Builder, float] = {where: 9, dimension: 7, query: 9}
"""Each kind with its share of the cases."""
