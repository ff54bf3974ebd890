"""The answers of a spec, handed to the methods of `Query`: these say what is wrong with them."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm
from types import MappingProxyType
from typing import Any

from perrecord.errors import about
from perrecord.policy.split import Scheme
from perrecord.policy.weighing import Weighting
from perrecord.queries.methods import Accounting, Blur, Taper, taper_of
from perrecord.queries.methods.parts import Parts, Priced, method_of
from perrecord.queries.query import Query
from perrecord.release.spec.questions import (
    FORMS,
    AnswerEntry,
    BlurEntry,
    CandidatesEntry,
    MethodEntry,
    PartsEntry,
    WeightingEntry,
)
from perrecord.release.spec.schemes import case_keys
from perrecord.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class Answering:
    """What every answer of a spec is built with; the schema is missing until the table is open."""

    splits: Mapping[str, Scheme]
    tapers: Mapping[str, Taper]
    accounting: Accounting
    schema: Schema | None
    blur: Callable[[BlurEntry], Blur] | None
    """What reads the file of a scale; missing while no file is to be read."""

    def answered(self, query: Query, name: str, answer: AnswerEntry) -> Query:
        """Return the query with one more answer."""
        form = answer.form
        column: str | None = getattr(answer, form)
        with about("answers", name):
            given = self._options(answer, str(column))
        options: dict[str, Any] = {**dict.fromkeys(_needs(form)), **given}
        if answer.parts is not None:
            with about("answers", name, "parts"):
                options["parts"] = self._parts(answer.parts, str(column))
        counted = None if (form, column) == ("count", "records") else column
        return getattr(query, form)(counted, **options, name=name)  # type: ignore[no-any-return]

    def _options(self, entry: AnswerEntry | MethodEntry, measure: str) -> dict[str, Any]:
        """Return the options that are given, as `Query` takes them."""
        given = [each for each in type(entry).model_fields if each not in FORMS]
        options = {each: getattr(entry, each) for each in given if getattr(entry, each) is not None}
        if entry.split is not None:
            options["split"] = self.splits[entry.split]
            options.setdefault("accounting", self.accounting)
        if entry.taper is not None:
            options["taper"] = taper_of(named_taper(entry.taper, self.tapers), measure)
        if isinstance(entry, AnswerEntry):
            for currency in ("rho", "epsilon"):
                if currency in options:
                    options[currency] = amount(options[currency])
            if entry.blur is not None:
                with about("blur"):
                    options["blur"] = self._blur(entry.blur)
            if entry.candidates is not None:
                options["candidates"] = Candidates(entry.candidates)
            if entry.weight is not None:
                options["weight"] = weighting_of(entry.weight)
        return options

    def _blur(self, entry: BlurEntry) -> Blur | None:
        """Return a blur; while its file is not to be read, a widened taper is one like any."""
        if self.blur is None:
            return None if entry.scale is not None else Blur(entry.by, signed=entry.signed)
        return self.blur(entry)

    def _parts(self, entry: PartsEntry, measure: str) -> Parts:
        values = case_keys(entry.cases, entry.by, self.schema)
        methods: dict[Any, Priced] = {}
        for case, method in entry.cases.items():
            with about("cases", case):
                methods[values[case]] = method_of(**self._options(method, measure))
        if entry.default is not None:
            with about("default"):
                methods[...] = method_of(**self._options(entry.default, measure))
        return Parts(entry.by, methods)


def named_taper(given: Fraction | str, tapers: Mapping[str, Taper]) -> Fraction | Taper:
    """Return the taper of a name; a size is one already."""
    return tapers[given] if isinstance(given, str) else given


def weighting_of(entry: WeightingEntry) -> Weighting:
    """Return by which measure records are weighed."""
    return Weighting(entry.measure, entry.at)


def amount(given: tuple[Fraction, ...]) -> Fraction | tuple[Fraction, ...]:
    """Return an amount as `Query` takes it: one is no list."""
    return given[0] if len(given) == 1 else given


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a quantile one by one, as often as they are asked for."""

    entry: CandidatesEntry

    def __iter__(self) -> Iterator[Fraction]:
        """Yield them; there may be any number of them."""
        yield from self.entry.values or ()
        first, last, step = self.entry.first, self.entry.to, self.entry.step
        if first is not None and last is not None and step is not None:
            common = lcm(first.denominator, step.denominator)
            start, width = int(first * common), int(step * common)
            for place in range(int((last - first) // step) + 1):
                yield Fraction(start + place * width, common)


@cache
def takes(form: str) -> Mapping[str, inspect.Parameter]:
    """Return what the method of `Query` takes, beside itself and the column."""
    every = inspect.signature(getattr(Query, form)).parameters
    return MappingProxyType(dict(list(every.items())[2:]))


def _needs(form: str) -> list[str]:
    return [name for name, each in takes(form).items() if each.default is each.empty]
