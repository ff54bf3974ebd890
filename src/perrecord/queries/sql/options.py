"""The options of `from_sql`: which amount, scheme, bounds or candidates each answer gets."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from perrecord.errors import QueryError, listing, suggestion
from perrecord.exact import Exact
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.weighing import Weighting
from perrecord.queries.groupings import WhichCells
from perrecord.queries.methods import Accounting, Blur, Taper
from perrecord.queries.sql.asked import AnswerForm, AskedAnswer

Amount = Exact | tuple[Exact, Exact]
Amounts = Amount | Mapping[str, Amount]
Bounds = tuple[Exact, Exact]


class SQLOptions(TypedDict, total=False):
    """What `Session.ask`, `ask_all` and `preview` take with SQL text: the options of `from_sql`.

    A function of your own passes them on as `**options: Unpack[SQLOptions]`.
    """

    keys: WhichCells | Mapping[tuple[str, ...], WhichCells] | None
    rho: Amounts | None
    epsilon: Amounts | None
    split: Scheme | Mapping[str, Scheme] | None
    clamp: Bounds | Mapping[str, Bounds] | None
    taper: Exact | Taper | Mapping[str, Exact | Taper] | None
    blur: Exact | Blur | Mapping[str, Exact | Blur] | None
    candidates: Iterable[Exact] | Mapping[str, Iterable[Exact]] | None
    weight: Weighting | Mapping[str, Weighting] | None
    accounting: Accounting


def check_known(options: Iterable[str]) -> None:
    """Refuse an option that SQL text does not take.

    >>> check_known(["rho", "candidate"])
    Traceback (most recent call last):
    perrecord.errors.QueryError: SQL text takes no option 'candidate'. It takes accounting, \
blur, candidates, clamp, epsilon, keys, rho, split, taper, weight. Did you mean 'candidates'?
    """
    known = sorted(SQLOptions.__optional_keys__)
    for name in options:
        if name not in known:
            raise QueryError(
                f"SQL text takes no option {name!r}. It takes {listing(known, limit=len(known))}."
                f"{suggestion(name, known)}"
            )


Names = tuple[str, ...]
"""The names that an answer's option may go by, the more specific first."""


def amounts(option: str, given: Amounts | None, asked: Sequence[AskedAnswer]) -> list[Any]:
    """Return the amount of each answer, found by the answer's name; None where there is none.

    >>> count = AskedAnswer(AnswerForm.COUNT, None, None, "count", None)
    >>> amounts("rho", {"cuont": "0.1"}, [count])
    Traceback (most recent call last):
    perrecord.errors.QueryError: rho names 'cuont', which no answer takes. Expected count. \
Did you mean 'count'?
    """
    return _chosen(option, given, [(each.name,) for each in asked])


def splits(given: Scheme | Mapping[str, Scheme] | None, asked: Sequence[AskedAnswer]) -> list[Any]:
    """Return the scheme of each answer; one for all goes to the measures that it names."""
    names = _measure_names(asked, AnswerForm.SUM, AnswerForm.AVERAGE)
    if isinstance(given, Split | SplitBy):
        names = _about(names, asked, given.measures)
    return _chosen("split", given, names)


def tapers(
    given: Exact | Taper | Mapping[str, Exact | Taper] | None, asked: Sequence[AskedAnswer]
) -> list[Any]:
    """Return the taper of each answer; one for all goes to the measures that it names."""
    names = _measure_names(asked, AnswerForm.SUM, AnswerForm.AVERAGE)
    if isinstance(given, Taper):
        names = _about(names, asked, given.measures)
    return _chosen("taper", given, names)


def blurs(
    given: Exact | Blur | Mapping[str, Exact | Blur] | None, asked: Sequence[AskedAnswer]
) -> list[Any]:
    """Return the blur of each total, found by its name or its measure's."""
    return _chosen("blur", given, _measure_names(asked, AnswerForm.SUM))


def _about(
    names: Sequence[Names], asked: Sequence[AskedAnswer], measures: Iterable[str]
) -> list[Names]:
    """Return the names of the answers about some measures, and none of the others."""
    known = set(measures)
    pairs = zip(names, asked, strict=True)
    return [each if answer.column in known else () for each, answer in pairs]


def clamps(given: Bounds | Mapping[str, Bounds] | None, asked: Sequence[AskedAnswer]) -> list[Any]:
    """Return the bounds of each answer, found by its name or its measure's."""
    return _chosen("clamp", given, _measure_names(asked, AnswerForm.SUM, AnswerForm.AVERAGE))


def candidates(
    given: Iterable[Exact] | Mapping[str, Iterable[Exact]] | None, asked: Sequence[AskedAnswer]
) -> list[Any]:
    """Return the public candidates of each quantile, found by its name or its measure's."""
    kept: Any = given
    if isinstance(given, Mapping):
        kept = {name: _kept(values) for name, values in given.items()}
    elif given is not None:
        kept = _kept(given)
    return _chosen("candidates", kept, _measure_names(asked, AnswerForm.QUANTILE))


def weights(
    given: Weighting | Mapping[str, Weighting] | None, asked: Sequence[AskedAnswer]
) -> list[Any]:
    """Return what weighs the records of each quantile, found by its name or its measure's."""
    return _chosen("weight", given, _measure_names(asked, AnswerForm.QUANTILE))


def _kept(values: Any) -> Any:
    """Return what can be read again, because several answers may read it."""
    return tuple(values) if isinstance(values, Iterator) else values


def _measure_names(asked: Sequence[AskedAnswer], *forms: AnswerForm) -> list[Names]:
    return [
        (each.name, each.column) if each.form in forms and each.column is not None else ()
        for each in asked
    ]


def _chosen(option: str, given: Any, names: Sequence[Names]) -> list[Any]:
    """Return what each answer gets; refuse what nobody takes, for it would be lost in silence."""
    if not isinstance(given, Mapping):
        if given is not None and not any(names):
            raise QueryError(
                f"{option} is given, but no answer takes it; leave it out.", about=(option,)
            )
        return [given if each else None for each in names]
    keys = [next((name for name in each if name in given), None) for each in names]
    for name in given:
        if name not in keys:
            known = list(dict.fromkeys(known for each in names for known in each))
            if name in known:
                taken = [str(key) for key, each in zip(keys, names, strict=True) if name in each]
                raise QueryError(
                    f"{option} names {name!r}, but the answers about it are named as well: "
                    f"{listing(taken)}. Leave {name!r} out.",
                    about=(option, str(name)),
                )
            raise QueryError(
                f"{option} names {name!r}, which no answer takes. Expected "
                f"{listing(known) or 'none'}.{suggestion(str(name), known)}",
                about=(option, str(name)),
            )
    return [None if key is None else given[key] for key in keys]
