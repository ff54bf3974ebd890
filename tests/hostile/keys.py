"""Keys that try to be something else: code, formulas, markup, paths, or another key."""

import random

KINDS: dict[str, tuple[str, ...]] = {
    "SQL": (
        "'; DROP TABLE canary; --",
        "' OR '1'='1",
        "'); COPY (SELECT 42) TO 'canary.csv'; --",
        "x' UNION ALL SELECT * FROM read_text('/etc/passwd') --",
        "/* open",
        "$$; ATTACH 'canary.db'; $$",
        "${canary}",
        "%s :name ? $1",
    ),
    "quotes": ("'", '"', "`", "''", '""', "\\", "\\'", '\\"', "a\\nb", "O'Brien", '","'),
    "formulas": (
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(1,1)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        '=HYPERLINK("http://127.0.0.1:9/","x")',
        "=cmd|'/C calc'!A0",
        "'=1+1",
        "''=1+1",
        "'plain",
        "|x",
        "%0A=1+1",
    ),
    "markup": (
        "</script><script>window.canary='script'</script>",
        "<img src=x onerror=window.canary='image'>",
        "<svg onload=window.canary='svg'>",
        "\"' onfocus=window.canary=1 autofocus x='",
        "<style>*{display:none}</style>",
        "<!--<script>",
        "]]><b>x</b>",
        "&lt;b&gt;&amp;amp;",
        "javascript:window.canary=1",
        "data:text/html,<script>window.canary=1</script>",
        "expression(window.canary=1)",
    ),
    "templates": ("{{7*7}}", "{% raw %}", "{# x #}", "${7*7}", "<%= 7*7 %>", "#{7*7}", "{0} {x!r}"),
    "Markdown": (
        "[x](javascript:window.canary=1)",
        "![x](http://127.0.0.1:9/x.png)",
        "**x**",
        "`x`",
        "x\n```\n<script>window.canary=1</script>",
        "~~~",
        "a | b |",
        "# head",
        "- item",
        "1. item",
    ),
    "YAML and JSON": (
        "!!python/object/apply:os.system [x]",
        "&a *a",
        "key: value",
        "- x",
        "#x",
        "%TAG",
        "{",
        "[",
        "\\u0041",
        "null",
        "~",
        "__proto__",
        "constructor",
    ),
    "direction": ("\u202egnp.x", "\u2066x\u2069", "\u200fx", "\u061cx", "a\u202ab\u202c"),
    "controls": (
        "\0",
        "a\0b",
        "\x01\x08\x0b\x0c\x1f",
        "\x7f",
        "\x85\x9b31m",
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07",
        "\x1b[2J",
        "\u2028x\u2029",
    ),
    "lines": ("a\nb", "a\rb", "a\r\nb", "\n", "a\n", "ab", "a\n\nb"),
    "spaces": (" a", "a ", "a", " ", "\u00a0a", "a\tb", "\t", "\u3000"),
    "zero width": ("a\u200bb", "a\u200db", "\ufeffa", "a\u00adb", "\u2060"),
    "look-alikes": ("é", "e\u0301", "Å", "\u212b", "A\u030a", "ﬁ", "fi", "а", "Ω", "\u2126"),
    "case": ("straße", "STRASSE", "I", "ı", "i", "İ", "Abc", "ABC", "abc"),
    "words for values": (
        "",
        "NULL",
        "nan",
        "NaN",
        "None",
        "N/A",
        "true",
        "False",
        "1e5",
        "007",
        "7",
        "7.0",
        "-0",
        "inf",
        "2026-01-01",
    ),
    "paths": (
        "../canary",
        "../../canary",
        "/tmp/canary",
        "..\\canary",
        "C:\\canary",
        "file:///etc/passwd",
        "CON",
        "nul.txt",
        ".",
        "..",
        "~root",
        "x/y",
        "canary;x",
        "*",
        "$(touch canary)",
        "`touch canary`",
    ),
    "wide": ("𝕏", "👩‍👩‍👧", "\U0010ffff", "\ufffe", "\ud7ff", "中文", "🇩🇪"),
}

EVERY = tuple(dict.fromkeys(key for keys in KINDS.values() for key in keys))
"""Every hostile key once; no two may be taken for each other."""

LONG = "=" + "</script>'\"" * 100_000
"""More than a megabyte."""

HALF_PAIRS = ("\ud800", "x\udfff", "\udc80")
"""What UTF-8, and so Arrow, cannot hold; Python text and YAML's escapes can."""


def random_keys(count: int, seed: int = 8) -> list[str]:
    """Return so many different keys of random characters of every plane, short and long."""
    chance = random.Random(seed)
    planes = ((0, 0x7F), (0x80, 0x2FF), (0x300, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))
    found: dict[str, None] = {}
    while len(found) < count:
        low, high = chance.choice(planes)
        length = chance.choice((1, 2, 3, 8, 20))
        found["".join(chr(chance.randint(low, high)) for _ in range(length))] = None
    return list(found)
