"""What the page lets one choose of each answer, and what a choice changes in the text.

An answer's choices stand in its own entry; those of a query in SQL stand beside it, by the answer's
name or once for all answers.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from perrecord.errors import InputError
from perrecord.exact import text as shown_number
from perrecord.release.spec import LoadedSpec, Workload
from perrecord.release.spec.models import Spec, SplitEntry
from perrecord.release.spec.problems import Path
from perrecord.release.spec.questions import EVERY, QueryEntry
from perrecord.release.spec.template import scalar
from perrecord.studio.edits import Exchange, Put, Remove, TextChange, places

METHODS = ("taper", "split", "clamp")
"""The options that say what large records do to a total, of which it has one."""

_NUMBER = r"\d+(\.\d*)?([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|\d+/\d+"
_AMOUNT = re.compile(rf"({_NUMBER})|\[\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\]")
_SIGNED = rf"-?(?:{_NUMBER})"
_BOUNDS = re.compile(rf"\[?\s*(?P<low>{_SIGNED})\s*(,|to)\s*(?P<high>{_SIGNED})\s*\]?")
_USUAL_SIZE = "100"


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing to choose: where it stands in the spec, and how it is written there now."""

    option: str
    path: Path
    text: str
    is_for_all: bool = False
    """Whether it holds for every answer of a query in SQL."""


@dataclass(frozen=True, slots=True)
class AnswerChoices:
    """One answer: what it asks for, and what there is to choose of it."""

    query: int
    name: str
    asks: str
    measure: str | None
    """Of a total or average, what is added up."""
    method: Offer | None
    """How large records are handled; None where they do no more than others."""
    amount: Offer | None
    blur: Offer | None

    @property
    def key(self) -> str:
        """What a form of the page calls it."""
        return f"{self.query}/{self.name}"


def choices_of(
    text: str, loaded: LoadedSpec, workload: Workload | None
) -> tuple[AnswerChoices, ...]:
    """Return what there is to choose; answers in SQL are known once the workload is."""
    known = places(text)
    return tuple(_choices(text, known, loaded.spec, workload))


def _choices(
    text: str, known: Mapping[Path, Any], spec: Spec, workload: Workload | None
) -> Iterator[AnswerChoices]:
    def offer(option: str, *paths: Path) -> Offer | None:
        for path in paths:
            if path in known:
                place = known[path]
                return Offer(option, path, text[place.start : place.end], path[-1] == option)
        return None

    for number, query in enumerate(spec.queries):
        for name, asks, measure in _answers(number, query, workload):
            own: Path = ("queries", number, "answers", name)
            beside: Path = ("queries", number)
            found = {}
            for option in ("rho", "epsilon", "taper", "split", "clamp", "blur"):
                paths = ((*own, option),) if query.sql is None else _beside(beside, option, name)
                each = offer(option, *paths)
                if each is not None and query.sql is None:
                    each = Offer(option, each.path, each.text)
                found[option] = each
            is_total = measure is not None
            yield AnswerChoices(
                number,
                name,
                asks,
                measure,
                (found["taper"] or found["split"] or found["clamp"]) if is_total else None,
                found["rho"] or found["epsilon"],
                found["blur"] if is_total else None,
            )


def _beside(query: Path, option: str, name: str) -> tuple[Path, ...]:
    return (*query, option, name), (*query, option, EVERY), (*query, option)


def _answers(
    number: int, query: QueryEntry, workload: Workload | None
) -> Iterator[tuple[str, str, str | None]]:
    """Yield the name of each answer, what it asks for, and the measure that it adds up."""
    if query.sql is None:
        for name, answer in (query.answers or {}).items():
            column = str(getattr(answer, answer.form))
            is_total = answer.form in ("sum", "average") and answer.parts is None
            yield name, _words(answer.form, column), column if is_total else None
    elif workload is not None:
        for each in workload.queries[number].query.answers:
            measured = each.measurements[:1]
            measure = measured[0].measure if measured else None
            kind = type(each).__name__.lower()
            yield each.name, _words(kind, measure or ""), measure


def _words(form: str, column: str) -> str:
    """Return what an answer asks for.

    >>> _words("count", "records"), _words("sum", "emp")
    ('number of records', 'total of emp')
    """
    match form:
        case "count" if column in ("records", ""):
            return "number of records"
        case "count":
            return f"number of records with {column}"
        case "count_distinct" | "countdistinct":
            return f"number of different {column}".strip()
        case "sum":
            return f"total of {column}"
        case _:
            return f"{form} of {column}".removesuffix(" of ")


# -- what was typed -> changes ----------------------------------------------------------------


def changes_of(
    answer: AnswerChoices, typed: Mapping[str, str], spec: Spec
) -> tuple[tuple[TextChange, ...], str]:
    """Return what a form that was filled in changes, and what that is in words.

    `typed` holds `amount`, `method`, `size` and `blur`, each only if it differs from what the page
    had shown.
    """
    changes: list[TextChange] = []
    words: list[str] = []
    if "amount" in typed and answer.amount is not None:
        changes.append(Put(answer.amount.path, _amount(typed["amount"])))
        words.append(f"{answer.amount.option} {typed['amount'].strip()}")
    method = answer.method
    option = method.option if method is not None else ""
    if method is not None and typed.get("method", option) != option:
        option = typed["method"]
        size = typed.get("size") or _usual_size(answer, method, option, spec)
        changes += _other_method(answer, method, option, size, spec)
        words.append(f"{option} {size}")
    elif method is not None and "size" in typed:
        changes.append(Put(method.path, _size(option, typed["size"])))
        words.append(f"{option} {typed['size'].strip()}")
    if "blur" in typed and option == "taper":
        changes += _blur(answer, typed["blur"])
        words.append(f"blur {typed['blur'].strip() or 'none'}")
    return tuple(changes), f"{answer.name}: {', '.join(words)}"


def _other_method(
    answer: AnswerChoices, method: Offer, option: str, size: str, spec: Spec
) -> Iterator[TextChange]:
    if option not in METHODS:
        raise InputError(f"the method is {option!r}; expected one of {', '.join(METHODS)}.")
    if method.path[-1] != method.option:
        raise InputError(
            f"{answer.name} is a query in SQL that lists its methods by answer; change the method "
            "in the file."
        )
    if option == "split" and size not in spec.splits:
        made = f"{{{scalar(str(answer.measure))}: {_size('taper', size)}}}"
        size = f"studio_{answer.measure}"
        if size not in spec.splits:
            yield (
                Put(("splits", size), made)
                if spec.splits
                else Put(("splits",), f"{{{scalar(size)}: {made}}}")
            )
    yield Exchange(method.path, option, _size(option, size))
    above = method.path[:-1]
    if option != "taper" and answer.blur is not None:
        yield Remove(answer.blur.path)
    entry = spec.queries[answer.query]
    own = (entry.answers or {}).get(answer.name, entry)
    if option != "split" and getattr(own, "accounting", None) is not None:
        yield Remove((*above, "accounting"))


def _usual_size(answer: AnswerChoices, method: Offer, option: str, spec: Spec) -> str:
    """Return the size that another method starts from: that of the present one."""
    size = _size_now(answer, method, spec)
    match option:
        case "split":
            fitting = [
                name
                for name, each in spec.splits.items()
                if each.thresholds is not None and answer.measure in each.thresholds
            ]
            return fitting[0] if fitting else size
        case "clamp":
            return f"[0, {size}]"
        case _:
            return size


def _size_now(answer: AnswerChoices, method: Offer, spec: Spec) -> str:
    written, measure = method.text.strip("\"'"), str(answer.measure)
    match method.option:
        case "taper" if written in spec.tapers:
            found = spec.tapers[written].sizes.get(measure)
            return _USUAL_SIZE if found is None else shown_number(found)
        case "taper":
            return written
        case "split":
            scheme: SplitEntry | None = spec.splits.get(written)
            found = None if scheme is None else (scheme.thresholds or {}).get(measure)
            return _USUAL_SIZE if found is None else shown_number(found)
        case _:
            bounds = _BOUNDS.fullmatch(written)
            return _USUAL_SIZE if bounds is None else bounds["high"]


def _blur(answer: AnswerChoices, typed: str) -> Iterator[TextChange]:
    if not typed.strip():
        if answer.blur is not None:
            yield Remove(answer.blur.path)
        return
    if not re.fullmatch(_NUMBER, typed.strip()):
        raise InputError("blurring is by a part, such as 0.1 for ten per cent; or leave it empty.")
    if answer.blur is not None:
        yield Put(answer.blur.path, typed.strip())
    elif answer.method is not None:
        yield Put((*answer.method.path[:-1], "blur"), typed.strip())


def _amount(typed: str) -> str:
    if not _AMOUNT.fullmatch(typed.strip()):
        raise InputError(
            "what an answer costs is a number such as 0.1 or 1/3; of an average also two, [0.1, "
            "0.05], for its total and its count."
        )
    return typed.strip()


def _size(option: str, typed: str) -> str:
    """Return a size as a spec writes it."""
    plain = typed.strip()
    match option:
        case "clamp":
            bounds = _BOUNDS.fullmatch(plain)
            if bounds is None:
                raise InputError("values are cut to two numbers, such as 0 to 500.")
            return f"[{bounds['low']}, {bounds['high']}]"
        case _ if re.fullmatch(_NUMBER, plain):
            return plain
        case _ if re.fullmatch(r"[\w -]{1,100}", plain):
            return scalar(plain)
    raise InputError("the size is a number such as 50, or the name of one that the spec declares.")
