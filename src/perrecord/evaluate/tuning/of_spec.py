"""Tuning of a whole spec: its questions, its splits, its examples, the goals and caps in it.

`perrecord tune` and the studio ask here, so both find the same.
"""

from collections.abc import Callable, Mapping, Sequence

from perrecord.errors import InputError
from perrecord.evaluate.tuning.capped import Record
from perrecord.evaluate.tuning.tune import Tuning, tune
from perrecord.evaluate.variants import one_set_each
from perrecord.exact import Exact
from perrecord.policy.split import Scheme
from perrecord.queries.query import Query
from perrecord.release.names import LONGEST_NAME
from perrecord.release.spec import LoadedSpec, Workload
from perrecord.release.spec.goals import goals_by_name
from perrecord.release.spec.models import Spec
from perrecord.release.spec.schemes import splits_of
from perrecord.tables.schema import Schema
from perrecord.tables.table import Table

DEFAULT_GOAL = "5% for 95% of cells"
"""What is aimed at where nothing else is said."""


def goals_of(spec: Spec) -> list[str]:
    """Return the goals that a spec names, each as a sentence; the default if it names none."""
    return [*goals_by_name(spec).values()] or [DEFAULT_GOAL]


def queries_of(workload: Workload) -> dict[str, Query]:
    """Return the queries of a workload by name."""
    return {named.name: named.query for named in workload.queries}


def schemes_of(loaded: LoadedSpec, schema: Schema) -> dict[str, Scheme]:
    """Return the splitting schemes of a spec by name."""
    problems = loaded.problems()
    schemes = splits_of(loaded.spec, schema, problems)
    problems.check()
    return dict(schemes)


def tuned_workload(
    loaded: LoadedSpec,
    workload: Workload,
    table: Table,
    goals: Sequence[str],
    *,
    caps: Mapping[str, Exact],
    examples: Mapping[str, Record] | None = None,
    smallest_in: str = "99%",
    keeps_methods: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> Tuning:
    """Return what `tune` finds for a spec; goals that nothing can be found for are refused.

    `examples` are those of the spec unless others are given.
    """
    queries = queries_of(workload)
    check_names(queries)
    result = tune(
        queries,
        table,
        goals,
        schemes=None if keeps_methods else schemes_of(loaded, table.schema),
        smallest_in=smallest_in,
        examples=dict(workload.examples) if examples is None else examples,
        caps=caps,
        on_step=on_step,
    )
    if not result.answers:
        raise InputError(
            "every answer that has a goal is 0 in every cell, so there is nothing to be "
            "accurate about, and nothing was written. Tune on a file with records."
        )
    return result


def check_names(queries: Mapping[str, Query]) -> None:
    """Refuse grouping sets whose tables have names too long for queries of their own."""
    for asked in one_set_each(queries):
        if len(asked.name) > LONGEST_NAME:
            raise InputError(
                f"the query {asked.origin!r} has several grouping sets, and tuning makes a query "
                f"of each; {asked.name!r} is longer than {LONGEST_NAME} letters. Give the query a "
                "shorter name."
            )
