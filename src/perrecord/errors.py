"""Every exception that perrecord raises.

    PerrecordError
    ├── InputError (also a ValueError): something the caller gave
    │   ├── InexactNumberError     a float, NaN or infinity where an exact number is needed
    │   ├── ThresholdError         a splitting threshold or a cap that splits nothing
    │   ├── AmountError            a privacy loss that is negative or otherwise no loss
    │   ├── RecordError            a record that a policy cannot be evaluated on
    │   │   ├── MissingFieldError      it lacks a measure or a dimension
    │   │   └── UnknownCaseError       no case is declared for its dimensions, nor a default
    │   ├── CurrencyError          zCDP rho and pure epsilon in one sum
    │   ├── ProbabilityError       a probability outside its range
    │   ├── ApproximationError     an approximate figure asked for where it would mislead
    │   ├── DocumentError          a policy document that cannot be read
    │   ├── SourceError            a table that cannot be opened or read
    │   ├── SpecError              a release spec with a mistake: file, line, path
    │   ├── SchemaError            a column, its role, its resolution or a lookup that does not fit
    │   └── QueryError             a query that cannot be answered
    │       └── SQLTextError           SQL that is not understood or not supported, with its place
    ├── BudgetExceededError        a charge that would take some record beyond its budget
    ├── LedgerError                a ledger that cannot be read, written or trusted
    ├── ReleaseError               a release that cannot be made or published as it stands
    └── InternalError              our own fault: please report it

A message says what was found, what was expected and what to type next. Messages about records
name fields, never values: a record may be confidential.

What an error is about it says apart from its message, in `InputError.about`: a spec finds its line
by that, SQL its caret. Nothing is decided by the text of a message.
"""

import difflib
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_OBEYED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINERS = frozenset("\u200c\u200d")  # letters of some scripts need them


class PerrecordError(Exception):
    """The root of every exception that perrecord raises on purpose."""


class InputError(PerrecordError, ValueError):
    """Something the caller gave cannot be used; the message says what to give instead.

    >>> error = InputError("rho is 0.", about=("rho",))
    >>> error.about, str(error)
    (('rho',), 'rho is 0.')
    """

    def __init__(self, message: str = "", *, about: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.about = about
        """What it is about, from the outside in, such as ("answers", "emp", "split")."""
        self.sentence = message
        """The message alone, without the place in a text that `str` may show around it."""
        self.line: int | None = None
        """The line of the text that `str` points into, if it does."""


@contextmanager
def about(*steps: str) -> Iterator[None]:
    """Say of errors from inside that they are about a part of this.

    >>> try:
    ...     with about("answers", "emp"):
    ...         raise InputError("no split 'modrate'.", about=("split",))
    ... except InputError as error:
    ...     error.about
    ('answers', 'emp', 'split')
    """
    try:
        yield
    except InputError as error:
        error.about = (*steps, *error.about)
        raise


class InexactNumberError(InputError, TypeError):
    """A float, NaN or infinity stands where only an exact number keeps the guarantee."""


class ThresholdError(InputError):
    """A splitting threshold, a cap or a list of cases that no record can be split by."""


class AmountError(InputError):
    """A privacy loss or budget that is negative or missing."""


class RecordError(InputError):
    """A record that the policy cannot be evaluated on."""


class MissingFieldError(RecordError, KeyError):
    """A record lacks a measure or dimension that the policy reads."""

    __str__ = Exception.__str__  # KeyError would print the message in quotes


class UnknownCaseError(RecordError, KeyError):
    """A record's dimensions meet no declared case, and there is no default."""

    __str__ = Exception.__str__


class CurrencyError(InputError, TypeError):
    """zCDP rho and pure epsilon cannot be added or compared."""


class ProbabilityError(InputError):
    """A probability lies outside the range that the question allows."""


class ApproximationError(InputError):
    """An approximate figure was asked for where it would understate the loss."""


class DocumentError(InputError):
    """A policy document is not valid JSON, or not in a format this version reads."""


class SourceError(InputError):
    """A table cannot be opened or read; the message names the source, never what is in it."""


class SpecError(InputError):
    """A release spec holds mistakes; the message gives the file, line and path of each."""


class SchemaError(InputError):
    """A column, its role, its resolution or a lookup does not fit the table."""


class QueryError(InputError):
    """A query that cannot be answered as it is written."""


class SQLTextError(QueryError):
    """SQL that is not understood or not supported; the message shows its place in the text."""


class BudgetExceededError(PerrecordError):
    """A charge would take some possible record beyond its budget; nothing was charged."""


class LedgerError(PerrecordError):
    """A ledger cannot be read, written or trusted; the message says what to do about it."""


class ReleaseError(PerrecordError):
    """A release that cannot be made or published as it stands; the message says what to do."""


class InternalError(PerrecordError):
    """A fault of perrecord's own. Nothing you gave is wrong; please report it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} This is a bug in perrecord; please report it.")


def listing(names: Iterable[object], limit: int = 8) -> str:
    """Return the names as `a, b, c`, cut after a few.

    >>> listing(["emp", "payann"])
    'emp, payann'
    >>> listing(range(100), limit=3)
    '0, 1, 2 and 97 more'

    Blanks around a name are shown by quotes, or nobody would see them:

    >>> listing(["emp", " pay", ""])
    "emp, ' pay', ''"
    """
    every = [visible(_seen(str(name))) for name in names]
    shown = ", ".join(every[:limit])
    return f"{shown} and {len(every) - limit} more" if len(every) > limit else shown


def _seen(name: str) -> str:
    return name if name and name == name.strip() else f"'{name}'"


def shortened(message: str, most: int = 1000) -> str:
    """Return a message with the middle of every long line left out; it may quote a megabyte.

    The place stands at the beginning of a line, and what to do at its end. An indented line is to
    be typed as it is, and never cut.

    >>> shortened("no column 'abcdefghijklmnopqrstuvwxyz'; rename it.", most=30)
    "no column 'abc...'; rename it."
    """
    half = most // 2
    return "\n".join(
        line
        if len(line) <= most or line.startswith("  ")
        else f"{line[: half - 1]}...{line[2 - half :]}"
        for line in message.split("\n")
    )


def continued(message: str, more: str) -> str:
    r"""Return a message and what follows it, on a new line where its last one is to be typed.

    >>> print(continued("Type:\n  rho: 1", "Nothing was charged."))
    Type:
      rho: 1
    Nothing was charged.
    """
    is_typed = message.rpartition("\n")[2].startswith("  ")
    return ("\n" if is_typed else " ").join(each for each in (message, more) if each)


def number_of(count: int, one: str, several: str | None = None) -> str:
    """Return how many there are of something, in words that fit one of it too.

    >>> number_of(1, "key"), number_of(1200, "key"), number_of(2, "entry", "entries")
    ('1 key', '1,200 keys', '2 entries')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {several or f'{one}s'}"


def visible(shown: str) -> str:
    r"""Return text on one line with nothing in it that a terminal or an editor would obey.

    Control characters, ends of lines, marks of direction or of format that nobody sees, and halves
    of surrogate pairs are written as escapes.

    >>> print(visible("a\x1b[31m\u202eb\nc"))
    a\x1b[31m\u202eb\nc
    """
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(_escaped(each) if _is_obeyed(each) else each for each in shown)


def _is_obeyed(character: str) -> bool:
    return unicodedata.category(character) in _OBEYED and character not in _JOINERS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'emp'?` when a known name is close, else nothing.

    >>> suggestion("employes", ["employees", "payroll"])
    " Did you mean 'employees'?"
    """
    every = {each.casefold(): each for each in reversed(list(known))}
    close = difflib.get_close_matches(name.casefold(), list(every), n=1)
    return f" Did you mean {every[close[0]]!r}?" if close else ""
