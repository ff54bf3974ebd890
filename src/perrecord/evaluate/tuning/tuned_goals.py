"""Goals in a tuned spec: one about a query that becomes several is then about each of these."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ruamel.yaml.comments import CommentedMap

from perrecord.evaluate.variants import WorkloadTable
from perrecord.release.goals import target
from perrecord.release.spec.goals import goals_by_name
from perrecord.release.spec.models import Spec
from perrecord.release.spec.questions import EVERY


def rename_goals(document: Any, spec: Spec, tables: Iterable[WorkloadTable]) -> None:
    """Put the tables of a query into the goals that name the query, where it is there no more.

    A goal that names the table itself stays before.
    """
    made: dict[str, list[str]] = {}
    for each in tables:
        for answer in each.query.answers:
            if each.name != each.origin:
                names = made.setdefault(f"{each.origin}.{answer.name}", [])
                names.append(f"{each.name}.{answer.name}")
    for name, sentence in goals_by_name(spec).items():
        wanted = target(sentence)
        if wanted.about not in made:
            continue
        entries = document["tuning"]["goals"]
        if isinstance(entries, str):
            entries = document["tuning"]["goals"] = CommentedMap({EVERY: entries})
        del entries[name]
        for own in made[wanted.about]:
            entries.setdefault(own, str(replace(wanted, about=None)))
