"""What a refusal must look like, by rule: its exit code, its place, its remedy, its length."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from unicodedata import category

from perrecord.errors import visible
from perrecord.release.spec.problems import written
from tests.hostile.cases import Place

REFUSED = (1, 2)
LONGEST_LINE = 1_500
LONGEST_MESSAGE = 20_000

_PREFIX = "perrecord: "
_EXCERPT = "  "  # lines of SQL, and the carets below, are moved to the right
_PLACE = re.compile(r"^release\.yaml(:\d+)?: ")
_STEP = r"\[(?:\d+|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")\]"
_FIELD = re.compile(rf"^release\.yaml(?::\d+)?: ((?:[\w-]+|{_STEP})(?:\.[\w-]+|{_STEP})*): ")
_CUT_FIELD = re.compile(r"^release\.yaml(?::\d+)?: ([\w\[](?:(?!: ).){400,}?)\.\.\.")
_OTHER_PLACE = re.compile(
    # a file by its name
    r"'[^']*\.(ledger|parquet|csv|ddb|db|yaml|gz|tsv|zst|xlsx|sav|dta|xpt)'|'/[^']*|^/\S+: "
    r"|^the (budget|ledger|source|spec) |^a record with |^[\w-]+\.[\w-]+: "
)
_REMEDY = re.compile(
    # what to do, at the beginning of a clause
    r"(?:[.;:,)] |, (?:or|and) | or | and | to |; then )"
    r"(?:give|write|put|rename|remove|leave|choose|add|declare|name|make|use|list|set|keep|type|"
    r"check|save|restore|convert|indent|break|move|cast|shorten|split|clamp|ask|run|correct|close|"
    r"install|wait|join|derive|lower)\b"
    # what would be right
    r"|\bexpected\b|\bdid you mean '|\bsuch as \S|\bneeds? \w+|\bmust \w+ \w+|\bat most [\d,]+"
    # what there is to choose from
    r"|\. [A-Z]\w*(?: \w+)* are \S|\. (?:They have|It has) \S"
    r"|\bonly with \w+|\bis relative to \w+|\bcan only be \w+ \w+|\bthis one is \S"
    r"|\bbelongs? in \w+"
    r"|'[^']+' is missing (?:before this|after a key)|, as in \S",
    re.IGNORECASE,
)
_OURS = ("Traceback", "bug in perrecord", "an unexpected error", "InternalError")
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

WITHOUT_FIELD: dict[str, re.Pattern[str]] = {
    "a field that is missing is named, and has no place": re.compile(r": '[^']+' is missing\. "),
    "a file that is not there, or too long, is not read": re.compile(
        r": (there is no such file|this is not a plain file|longer than [\d,]+ bytes)"
    ),
    "what is no YAML has lines and no fields": re.compile(
        r": (a ':' |a ',' |a tab|text cannot begin|this is not YAML|this does not continue"
        r"|the quote|the character 0x|\* and & begin|a (word|line) that begins|a key is not text"
        r"|the quoted text)"
    ),
    "a spec that is no mapping has no fields": re.compile(r": expected a mapping that begins "),
    "the ledger of a spec stands at its top": re.compile(r": the spec names no ledger; "),
}
"""Messages that name no field, by why there is none to name."""

ELSEWHERE: dict[str, re.Pattern[str]] = {
    "a name that is defined no more is missed where it is used": re.compile(
        r": (?:[^:]*: )?(no|the \w+(?: '[^']*')? has no|there is no) [\w ]+ '"
    ),
    "what an answer of SQL lacks, or has twice, is shown in the SQL": re.compile(
        r"\.sql: the SQL, line \d+, column \d+: the answer '[^']*' has "
    ),
    "what is given for an answer that the SQL lacks is shown where it is given": re.compile(
        r" names '[^']*', which no answer takes\. "
    ),
    "numbers that are given beside SQL are checked with it": re.compile(
        r"\.sql: the (candidates have too many digits; |(rho|epsilon) of ')"
    ),
    "keys that do not fit the grouping are shown, not the grouping": re.compile(
        r"\.keys(\.\w+|\['[^']*'\])?: [^:]*((, the|but the) query groups by |Give keys over )"
    ),
    "of two with one name the second is shown, and names the first": re.compile(
        r" is named '[^']*' already; "
    ),
}
"""Messages that name another field than the one that was changed, by why."""

ENDS_WITH_A_COMMAND = re.compile(r"make it: perrecord ledger create \S+$")
"""The one message without a full stop, so that its end can be copied."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and what it wrote."""

    command: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float = 0.0

    @property
    def is_refused(self) -> bool:
        """Whether the command ended with anything but success."""
        return self.code != 0


def faults_of(ran: Ran, *, names_field: bool, places: Collection[Place] = ()) -> Iterator[str]:
    """Yield what is wrong with the way a command ended.

    `names_field` says that the fault is in a value of a spec that can be read, so that every
    message is to give the line and path of a field. If only one value was changed, `places` says
    where, and at least one message is to name it, or what it is in, or what is in it.
    """
    shown = " ".join(ran.command)
    if ran.code not in (0, *REFUSED):
        yield f"{shown}: exit code {ran.code}"
    for word in _OURS:
        if word in ran.err + ran.out:
            yield f"{shown}: it says {word!r}: {ran.err[:300]}"
    for stream, text in (("stdout", ran.out), ("stderr", ran.err)):
        odd = sorted({sign for sign in text if _is_obeyed(sign)})
        if odd:
            yield f"{shown}: {stream} holds the control characters {odd}"
    if ran.code in REFUSED:
        for fault in _faults_of_message(ran.err, names_field=names_field):
            yield f"{shown}: {fault}"
        if names_field and places:
            for fault in _faults_of_place(ran.err, places):
                yield f"{shown}: {fault}"


def _is_obeyed(sign: str) -> bool:
    """Return whether a terminal would do something else with a character than show it."""
    return sign != "\n" and (category(sign) in ("Cc", "Cs", "Zl", "Zp") or sign in _DIRECTIONS)


def _faults_of_message(text: str, *, names_field: bool) -> Iterator[str]:
    if not text.startswith(_PREFIX):
        yield "the message does not say who speaks"
    if len(text) > LONGEST_MESSAGE:
        yield f"a message of {len(text):,} characters"
    longest = max(map(len, text.splitlines()), default=0)
    if longest > LONGEST_LINE:
        yield f"a line of {longest:,} characters"
    for message in messages_of(text):
        if re.fullmatch(r"and [\d,]+ more\.|not fine: .*\.", message):
            continue  # the end of a list of messages
        short = message if len(message) < 250 else f"{message[:150]}...{message[-100:]}"
        if not re.search(r"[.?]$", message) and not ENDS_WITH_A_COMMAND.search(message):
            yield f"no full stop: {short!r}"
        if not _PLACE.search(message):
            if not _OTHER_PLACE.search(message):
                yield f"no place: {short!r}"
        elif names_field and not _field(message) and not _has_no_field(message):
            yield f"no field: {short!r}"
        if not _REMEDY.search(_said(message)):
            yield f"no remedy: {short!r}"


def _said(message: str) -> str:
    """Return a message behind its place and field."""
    place = _field(message) or _PLACE.search(message)
    return message[place.end() :] if place else message


def _field(message: str) -> re.Match[str] | None:
    """Return the field that a message names; a name of thousands of letters is cut."""
    return _FIELD.search(message) or _CUT_FIELD.search(message)


def _faults_of_place(text: str, places: Collection[Place]) -> Iterator[str]:
    """Yield that no message names what was changed, unless each has a reason not to."""
    named = [(each, field[1]) for each in messages_of(text) if (field := _field(each))]
    if any(_is_related(field, place) for _, field in named for place in places):
        return
    for message, _ in named:
        if not any(pattern.search(message) for pattern in ELSEWHERE.values()):
            changed = " or ".join(written(place)[:80] for place in places)
            yield f"another field than {changed}: {message[:250]!r}"


def _is_related(field: str, place: Place) -> bool:
    """Return whether a field is at a place, around it, or inside it."""
    there = visible(written(place))
    short, long = sorted((field, there), key=len)
    is_cut = len(short) > 400
    return long == short or (long.startswith(short) and (is_cut or long[len(short)] in ".["))


def _has_no_field(message: str) -> bool:
    return any(pattern.search(message) for pattern in WITHOUT_FIELD.values())


def messages_of(text: str) -> list[str]:
    """Return the messages of stderr, one for each mistake, without their excerpts of SQL."""
    lines = [line for line in text.splitlines() if not line.startswith(_EXCERPT)]
    return [line.removeprefix(_PREFIX) for line in lines if line.strip()]
