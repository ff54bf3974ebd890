"""What `tune` finds for the goals and caps of a spec, and where the spec stands beside it.

It is found on data that may be looked at, when somebody asks for it. Afterwards the spec may be
changed: where it stands then follows from what was counted.
"""

from dataclasses import dataclass
from fractions import Fraction

from perrecord.errors import InputError
from perrecord.evaluate.losses.alike import alike_records
from perrecord.evaluate.tuning.of_spec import goals_of, tuned_workload
from perrecord.evaluate.tuning.senses import LossAt, LossOf, Smallest, sizes
from perrecord.evaluate.tuning.standing import standing
from perrecord.evaluate.tuning.tune import Tuning
from perrecord.evaluate.tuning.tuned_spec import check_cost, rewritten
from perrecord.release.spec import LoadedSpec, Workload, build
from perrecord.studio.accuracy import DataErrors
from perrecord.studio.doors import StudioDoor
from perrecord.studio.facts import Facts
from perrecord.studio.taking import taken

_SHARE = Fraction(99, 100)
"""Without caps, the loss is to be small that this share of the records does not exceed."""


@dataclass(frozen=True, slots=True)
class FoundValues:
    """What was found for one text of the spec, and the text that has it in it."""

    text: str
    taken: str
    tuning: Tuning
    goals: tuple[str, ...]
    caps: tuple[tuple[str, Fraction], ...]
    sense: Smallest
    """Whose loss the frontier is drawn for: that of the first record with a cap, or of most."""
    is_within_budget: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the spec as it is now stands: its errors as multiples of those aimed at, its loss."""

    times: float
    loss: float


def found_values(facts: Facts, door: StudioDoor) -> FoundValues:
    """Return what reaches the goals of a spec at the least loss, or the least errors under caps."""
    if not door.is_public:
        raise InputError(
            "goals are reached on data that may be looked at, and none was given. Start the studio "
            "again with a public, prior or synthetic file: perrecord studio "
            "release.yaml --data synthetic.parquet"
        )
    loaded, _ = facts.whole()
    goals, caps = goals_of(loaded.spec), dict(loaded.spec.tuning.caps)
    with door.opened(loaded) as table:
        workload = build(loaded, table.schema)
        tuning = tuned_workload(loaded, workload, table, goals, caps=caps)
        written = rewritten(facts.text, loaded, tuning, table.schema, loaded.path)
        text = taken(facts.text, written)
        check_cost(text, tuning, table.schema, loaded.path)
    examples = dict(workload.examples)
    capped = next((LossOf(name, examples[name]) for name in caps), None)
    return FoundValues(
        facts.text,
        text,
        tuning,
        tuple(goals),
        tuple(caps.items()),
        capped or LossAt(_SHARE),
        tuning.policy.is_below(workload.budget),
    )


def standing_of(
    found: FoundValues, errors: DataErrors, loaded: LoadedSpec, workload: Workload
) -> Standing | None:
    """Return where a spec stands beside what was found; None if it asks for something else."""
    times = standing(errors.truths(loaded, workload), found.tuning)
    if times is None:
        return None
    with errors.door.opened(loaded) as table, alike_records(table) as records:
        ((loss,),) = sizes([workload.policy], [found.sense], records)
    return Standing(times, loss)
