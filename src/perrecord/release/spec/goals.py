"""The goals under `tuning` of a spec: what `perrecord tune` and the studio aim at, checked here."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from perrecord.release.goals import answer_names, check_names, target
from perrecord.release.names import table_names
from perrecord.release.spec.models import Spec
from perrecord.release.spec.problems import Problems
from perrecord.release.spec.questions import EVERY

if TYPE_CHECKING:
    from perrecord.queries.query import Query


def goals_by_name(spec: Spec) -> dict[str, str]:
    """Return each goal of a spec as the sentence that `target` reads, by the name it has there."""
    written = spec.tuning.goals.items()
    return {name: each if name == EVERY else f"{name}: {each}" for name, each in written}


def check_goals(spec: Spec, queries: Mapping[str, "Query"], problems: Problems) -> None:
    """Add goals that cannot be read, or are about an answer that does not exist."""
    known = list(_names(queries))
    for name, sentence in goals_by_name(spec).items():
        with problems.at("tuning", "goals", name):
            target(spec.tuning.goals[name])  # a mistake in it is shown as it is written
            check_names([target(sentence)], known)


def _names(queries: Mapping[str, "Query"]) -> Iterator[str]:
    for name, query in queries.items():
        tables = table_names(name, [each.columns for each in query.groupings])
        for answer in query.answers:
            if answer.measurements:
                yield from (each for one in tables for each in answer_names(name, one, answer.name))
