"""How files are read where that must be said: separators, encodings, decimals, quotes, sheets."""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from perrecord.errors import SchemaError

UTF_8 = "utf-8"
NO_QUOTE = "none"
PACKED = (".gz", ".zst")
"""How the names of files end that are unpacked while they are read."""
SWAPPED = str.maketrans(",.", ".,")
"""Turns decimal commas into points, and points into commas, which no number has."""
_SINGLE_BYTES = r"iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|ascii|tis-620"
_ENCODINGS = re.compile(
    rf"utf-(8|16|32)(-[bl]e)?|{_SINGLE_BYTES}|gb18030|gbk|gb2312|big5\w*|euc_\w+|shift_jis\w*"
)


@dataclass(frozen=True, slots=True)
class File:
    """Files that need settings of their own: `File("est.csv", separator=";", decimal=",")`.

    The path may be a glob. Settings that are left out have their defaults: text in UTF-8, with
    commas in .csv and tabs in .tsv between fields, a decimal point, and double quotes; a workbook's
    only sheet.

    >>> File("est.csv", separator=";", encoding="latin-1", decimal=",").settings
    "decimal=',' encoding='iso8859-1' separator=';'"
    """

    path: str | Path
    separator: str | None = None
    """What separates the fields of a line: one character."""
    encoding: str = UTF_8
    """How text is encoded, such as windows-1252, latin-1 or utf-16."""
    decimal: str = "."
    """What stands before the decimals of a measure: a point or a comma."""
    quote: str = '"'
    """What fields are quoted by: a double or a single quote, or none."""
    sheet: str | None = None
    """The sheet of a workbook."""

    def __post_init__(self) -> None:
        if self.separator is not None:
            _check_separator(self.separator)
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.decimal not in (".", ","):
            raise SchemaError(
                f'decimal is {self.decimal!r}; expected a point or a comma, as in decimal: ",".',
                about=("decimal",),
            )
        if self.quote not in ('"', "'", NO_QUOTE):
            raise SchemaError(
                f"quote is {self.quote!r}; expected a double quote, a single quote, or none.",
                about=("quote",),
            )
        if self.separator is not None and self.separator in (self.decimal, self.quote):
            raise SchemaError(
                f"the separator is {self.separator!r}, and so is the decimal sign or the quote; "
                'expected another, such as separator: ";".',
                about=("separator",),
            )

    def separates(self, path: Path) -> str:
        """Return what separates the fields of a file: what is said, or what its name says."""
        is_tab = any(path.name.lower().endswith(f".tsv{packed}") for packed in ("", *PACKED))
        return self.separator or ("\t" if is_tab else ",")

    @property
    def settings(self) -> str:
        """What is said of the reading, in one spelling; nothing where all is as usual.

        It tells one table from another that is read from the same bytes.
        """
        return " ".join(f"{name}={getattr(self, name)!r}" for name in self.given)

    @property
    def given(self) -> list[str]:
        """The names of what is said."""
        every = (each for each in fields(self) if each.name != "path")
        return sorted(each.name for each in every if getattr(self, each.name) != each.default)

    def check_only(self, names: Iterable[str], what: str) -> None:
        """Refuse what is said and means nothing for files of this format."""
        known = set(names)
        for name in self.given:
            if name not in known:
                raise SchemaError(
                    f"{name} is given, and {what} has none to choose; leave {name} out.",
                    about=(name,),
                )


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """Which columns a table declares: those that hold measures, and all others."""

    numbers: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    """Those of the numbers whose measures are multiples of a whole number: no decimals are kept."""

    @property
    def names(self) -> frozenset[str]:
        """Every column that is read."""
        return self.numbers | self.codes


def _check_separator(separator: str) -> None:
    is_one = isinstance(separator, str) and len(separator) == 1 and separator.isascii()
    if not is_one or (separator != "\t" and (separator.isalnum() or separator in "\"'.+-\\ _")):
        raise SchemaError(
            f"the separator is {separator!r}; expected one character that is not a letter, "
            'digit, quote or point, such as separator: ";".',
            about=("separator",),
        )
    if separator != "\t" and not separator.isprintable():
        raise SchemaError(
            'the separator cannot be seen; expected a sign such as separator: ";", or a tab.',
            about=("separator",),
        )


def spelled(encoding: str) -> str:
    """Return an encoding as people write it, rather than Python.

    >>> spelled("cp1252"), spelled("iso8859-1"), spelled("utf-8")
    ('windows-1252', 'latin-1', 'utf-8')
    """
    if encoding == "iso8859-1":
        return "latin-1"
    return re.sub(r"^cp(125[0-8])$", r"windows-\1", encoding)


def _encoding(name: str) -> str:
    """Return the name of an encoding in its one spelling."""
    try:
        found = codecs.lookup(name).name
    except (LookupError, TypeError, ValueError):
        found = ""
    if not _ENCODINGS.fullmatch(found):
        raise SchemaError(
            f"the encoding {name!r} is not known; expected one such as windows-1252, latin-1, "
            "utf-16 or utf-8.",
            about=("encoding",),
        )
    return found
