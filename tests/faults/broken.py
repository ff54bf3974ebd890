"""Deliberately broken twins: each must fail the checks that its fault is meant for.

Each patches the library in the forked process that does the work, and nowhere else.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from perrecord.accounting import storage
from perrecord.accounting.entries import Seal
from perrecord.preview import meanings_in
from perrecord.release import publish, staging
from perrecord.release.contents import Paid, public_files, release_files, released_table
from tests.faults.scene import Scene
from tests.faults.subjects import LEDGER, RELEASE, SERIES, Subject
from tests.faults.victims import Say


def _publish_first(way: Any, table: Any, workload: Any, bits: Any) -> Any:
    """Compute and publish, and charge when all has gone well."""
    make = partial(released_table, workload)
    tables = publish.run_each(workload.plan, table, make, _bits=bits)
    public = public_files(workload)
    staging.write_files(way.staged, release_files(workload, tables, public, Paid("0" * 64)))
    staging.publish(way.staged, staging.digests(way.staged), way.target)
    meanings = meanings_in(workload.schema, workload.policy)
    charge = way.ledger.charge(
        workload.policy,
        label=workload.title,
        snapshot=way.identity.snapshot,
        identity=way.identity.key,
        meanings=meanings,
    )
    seal = way.ledger.seal(charge, staging.digests(way.staged))
    way.ledger.publish(charge, place=str(way.target))
    return publish.Outcome(way.target, charge, seal, "made")


def publishes_first() -> None:
    """Publish before anything is charged or sealed."""
    publish._Release.finish = _publish_first  # type: ignore[method-assign]


def seals_last() -> None:
    """Publish after the charge, but before the seal."""
    seal, copy = publish._Release._seal, staging.publish

    def sealing(way: Any, charge: Any) -> Seal:
        copy(way.staged, staging.digests(way.staged), way.target)
        return seal(way, charge)

    publish._Release._seal = sealing  # type: ignore[method-assign]
    staging.publish = lambda *_: None


def copies_in_place() -> None:
    """Write the public files under their own names, one after the other."""

    def copy(sealed: Path, wanted: Mapping[str, str], out: Path) -> None:
        shutil.copytree(sealed, out)

    staging.publish = copy


def flushes_nothing() -> None:
    """Leave the staged and the published files to the operating system's memory."""
    staging.flush = lambda _: None


def forgives_failed_flushes() -> None:
    """Take a flush that failed for one that did not."""
    flush = staging.flush_one

    def forgiving(path: Path) -> None:
        try:
            flush(path)
        except OSError:
            return

    staging.flush_one = forgiving


def trusts_the_memory() -> None:
    """Let SQLite report a commit before it is on the disk."""
    storage._SETTINGS = tuple(
        ("synchronous", "OFF", 0) if name == "synchronous" else (name, value, found)
        for name, value, found in storage._SETTINGS
    )


def twin(subject: Subject, patch: Callable[[], None]) -> Subject:
    """Return a subject whose work is done by the broken twin; it is checked as ours is."""

    def work(scene: Scene, say: Say) -> None:
        patch()
        subject.work(scene, say)

    return replace(subject, name=patch.__name__.replace("_", " "), work=work)


PUBLISHES_FIRST = twin(RELEASE, publishes_first)
SEALS_LAST = twin(RELEASE, seals_last)
COPIES_IN_PLACE = twin(RELEASE, copies_in_place)
FLUSHES_NOTHING = twin(RELEASE, flushes_nothing)
FORGIVES_FAILED_FLUSHES = twin(RELEASE, forgives_failed_flushes)
TRUSTS_THE_MEMORY = twin(LEDGER, trusts_the_memory)

BY_NAME = {
    subject.name: subject
    for subject in (
        RELEASE,
        LEDGER,
        SERIES,
        PUBLISHES_FIRST,
        SEALS_LAST,
        COPIES_IN_PLACE,
        FLUSHES_NOTHING,
        FORGIVES_FAILED_FLUSHES,
        TRUSTS_THE_MEMORY,
    )
}
"""Every subject by its name, by which a worker process finds it."""
