"""A release: scan, charge, compute, seal, publish. Interrupted anywhere, it can be run again.

    scan      the exact cells are computed; a source that cannot be read ends here, at no cost
    charge    the policy is written into the ledger, once for the same release
    compute   noise, files in a staging folder beside the ledger
    seal      the files' digests are written into the ledger
    publish   the sealed files appear in their place, all at once

Before the seal nothing was visible: a retry destroys what it finds and draws fresh noise under the
same charge. After it a retry publishes the sealed bytes again, also when the ledger was restored
from a backup that does not know them: they are charged anew. Nothing is ever refunded.

The noisy numbers are sealed with the files. When only what is shown has changed, a title or a
column beside an answer, new files are made of the sealed numbers, under the same charge.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from perrecord.accounting.entries import Charge, Seal
from perrecord.accounting.ledger import Ledger
from perrecord.errors import InputError, LedgerError, ReleaseError, SpecError
from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.kept import answers_of, kept
from perrecord.mechanisms.run import check_plan, run_each
from perrecord.noise.bits import BitSource
from perrecord.policy.policy import Policy
from perrecord.preview import meanings_in
from perrecord.queries.plan import PlannedGrouping
from perrecord.release import staging
from perrecord.release.contents import (
    MANIFEST,
    Paid,
    ReleasedTable,
    public_files,
    release_files,
    released_table,
    table_name,
)
from perrecord.release.identity import Identity, identity_of
from perrecord.release.ledgers import (
    check_own_budget,
    create_command,
    lost_ledger,
    releases_folder,
    saying_what_to_do,
)
from perrecord.release.series import series_of
from perrecord.release.spec import LoadedSpec, Workload, build, load_spec, open_table
from perrecord.tables.given import Source
from perrecord.tables.readable import check_links, check_text
from perrecord.tables.table import Table
from perrecord.watch import Progress, Watch, logged, nobody

_LOG = logging.getLogger("perrecord.release")

_NUMBERS = "numbers/"
"""What is sealed and never published: the noisy numbers themselves."""

_RENDERING = f"{_NUMBERS}rendering"
"""How they were shown when they were sealed: the hash of it."""

Did = Literal["made", "published again", "corrected", "recovered", "nothing"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a release is, and what had to be done for it."""

    folder: Path
    charge: Charge
    seal: Seal
    did: Did

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with the release, as far as its published numbers show it."""
        manifest = json.loads((self.folder / MANIFEST).read_bytes())
        return tuple(manifest.get("warnings", ()))


def release(
    spec: str | Path | LoadedSpec,
    out: str | Path,
    *,
    source: Source | None = None,
    snapshot: str | None = None,
    period: str | None = None,
    revision: str | None = None,
    progress: Callable[[str], None] = nobody,
    share: Progress = nobody,
    remark: Callable[[str | None], None] = nobody,
    _bits: BitSource | None = None,
) -> Outcome:
    """Make the release that a spec describes, and publish it as a folder.

    A Spark DataFrame, an Ibis table or a frame in memory may be given as `source`, in place of the
    one that the spec names. It has no files to tell one state of the data from another by, so a
    `snapshot` names it: the same name again is the same release, whatever the source holds.
    A `period`, and why its data is another than before (`revision`), may be given in place of the
    spec's own entries, for a ledger with periods (T35).
    `progress` is told each step by its name, `share` how much of it is done, from 0 to 1; `remark`
    what to know before it is charged: that earlier charges were made on other data, else None.
    """
    if (source is None) != (snapshot is None):
        raise InputError(
            "a source that is given needs the name of its state, and a name needs a source: "
            'release(spec, out, source=frame, snapshot="2026-11-01").'
        )
    watch = Watch(logged(_LOG, progress), share)
    watch.step("reading the spec")
    read = spec if isinstance(spec, LoadedSpec) else load_spec(spec)
    loaded, target = read.about(period, revision), Path(out).absolute()
    if os.path.lexists(target) and not (target / MANIFEST).is_file():
        raise _taken(target)  # before anything is read
    ledger = ledger_of(loaded)
    watch.step("hashing the source")
    identity = identity_of(loaded, ledger.secret, snapshot, share)
    with open_table(loaded, source) as table:
        workload = build(loaded, table.schema)
        check_own_budget(ledger, workload, loaded)
        check_plan(workload.plan)
        folder = staging_folder(ledger, identity.key)
        with staging.locked(folder.with_suffix(".lock")):
            way = _Release(loaded, snapshot, ledger, identity, folder, target, watch, remark)
            return way.finish(table, workload, _bits)


@dataclass(frozen=True, slots=True)
class _Release:
    """One release on its way; the lock is held."""

    loaded: LoadedSpec
    snapshot: str | None
    ledger: Ledger
    identity: Identity
    staged: Path
    target: Path
    watch: Watch
    remark: Callable[[str | None], None]

    def finish(self, table: Table, workload: Workload, bits: BitSource | None) -> Outcome:
        """Do what is left to do, from wherever an earlier run has come to."""
        state = self.ledger.state_of(self.identity.key)
        if state in ("sealed", "published"):
            return self._again(workload)
        self._check_target()
        meanings, data = meanings_in(workload.schema, workload.policy), self.identity.snapshot
        period, revision = self.loaded.spec.period, self.loaded.spec.revision
        if state == "unknown":
            with saying_what_to_do(self.ledger, self.loaded):
                self.ledger.preview(
                    workload.policy,
                    snapshot=data,
                    meanings=meanings,
                    period=period,
                    revision=revision,
                )
            self.remark(self.ledger.remark(data, period))
        check_text(table)  # and a database that cannot be read costs no budget
        check_links(table)
        public = self._public(workload)
        if state == "unknown" and self._is_whole():
            # The ledger was restored from before this release. Its files may have been seen, so
            # they are what the new charge pays for: fresh noise would be a second release.
            charge = self._charge(workload)
            seal = self._seal(charge)
            if not self._is_shown_so(seal):
                return replace(self._corrected(workload, charge, seal), did="recovered")
            return self._publish(charge, seal, "recovered")
        charges: list[Charge] = []

        def pay() -> None:
            self._check_unchanged()
            charges.append(self._charge(workload))

        def make(
            grouping: PlannedGrouping, answers: Answers
        ) -> tuple[ReleasedTable | Answers, bytes]:
            return released_table(workload, grouping, answers), kept(grouping, answers)

        made = run_each(workload.plan, table, make, charge=pay, watch=self.watch, _bits=bits)
        charge = charges[0]
        self.watch.step("writing")
        tables, numbers = [each for each, _ in made], [each for _, each in made]
        if self.ledger.periods:  # others may have been charged before it in the meantime
            public = self._public(workload, charge)
        files = release_files(workload, tables, public, Paid(charge.hash))
        staging.write_files(self.staged, files | self._private(workload, numbers))
        self.watch.step("sealing")
        return self._publish(charge, self._seal(charge), "made")

    def _charge(self, workload: Workload) -> Charge:
        self.watch.step("charging the ledger")
        return self.ledger.charge(
            workload.policy,
            label=workload.title,
            snapshot=self.identity.snapshot,
            identity=self.identity.key,
            meanings=meanings_in(workload.schema, workload.policy),
            period=self.loaded.spec.period,
            revision=self.loaded.spec.revision,
        )

    def _public(self, workload: Workload, charge: Charge | None = None) -> dict[str, bytes]:
        """Return the public files; what was charged before this charge is earlier to them."""
        spec = self.loaded.spec
        fields, schema = workload.fields, workload.schema
        series = series_of(self.ledger, spec.period, spec.revision, fields, schema, charge)
        return public_files(workload, series)

    def _check_unchanged(self) -> None:
        if identity_of(self.loaded, self.ledger.secret, self.snapshot) != self.identity:
            raise ReleaseError(
                "the source, or a file of keys or lookups, changed while it was read; nothing "
                "was charged. Run the release again when the files no longer change."
            )

    def _private(self, workload: Workload, numbers: list[bytes]) -> dict[str, bytes]:
        """Return what is sealed beside the files: the numbers, and how they were shown."""
        names = [table_name(workload, grouping) for grouping in workload.plan.groupings]
        files = {f"{_NUMBERS}{name}.arrow": each for name, each in zip(names, numbers, strict=True)}
        return {**files, _RENDERING: self.identity.rendering.encode()}

    def _again(self, workload: Workload) -> Outcome:
        charge = self.ledger.charge_of(self.identity.key)
        seal = None if charge is None else self.ledger.seal_of(charge)
        if charge is None or seal is None:
            raise LedgerError(f"{self.ledger.path}: a sealed release has no charge or no seal.")
        # Whoever wrote the seal may have died before it was durable; asking again makes it so.
        seal = self.ledger.seal(charge, seal.digests)
        if not self._is_shown_so(seal):
            return self._corrected(workload, charge, seal)
        public = _public(seal.digests)
        if staging.is_exactly(self.target, public):
            staging.flush_names(self.target)
            self.ledger.publish(charge, place=str(self.target))
            return Outcome(self.target, charge, seal, "nothing")
        self._check_sealed(seal)
        self._check_target()
        return self._publish(charge, seal, "published again")

    def _is_shown_so(self, seal: Seal) -> bool:
        """Whether the sealed files show the numbers as the spec has it now."""
        now = sha256(self.identity.rendering.encode()).hexdigest()
        return seal.digests[_RENDERING] == now

    def _corrected(self, workload: Workload, charge: Charge, seal: Seal) -> Outcome:
        """Show the sealed numbers as the spec has it now; their charge is the one they had."""
        self._check_sealed(seal)
        if charge.policy != workload.policy:
            raise ReleaseError(
                "this version of perrecord finds a different loss for this spec from the one "
                "that was charged; nothing was published. Publish it with the version that made "
                "it."
            )
        self.watch.step("writing")
        tables = []
        for grouping in workload.plan.groupings:
            name = f"{_NUMBERS}{table_name(workload, grouping)}.arrow"
            answers = answers_of(workload.plan, grouping, (self.staged / name).read_bytes())
            tables.append(released_table(workload, grouping, answers))
        paid = Paid(charge.hash, seal.hash)
        files = release_files(workload, tables, self._public(workload, charge), paid)
        wanted = {name: sha256(content).hexdigest() for name, content in files.items()}
        did: Did = "nothing"
        if not staging.is_exactly(self.target, wanted):
            self._check_target()
            shown = self.staged.with_name(f"{self.staged.name}.shown")
            staging.write_files(shown, files)
            self.watch.step("publishing")
            staging.publish(shown, wanted, self.target)
            shutil.rmtree(shown)
            did = "corrected"
        self.ledger.publish(charge, place=str(self.target))
        return Outcome(self.target, charge, seal, did)

    def _check_sealed(self, seal: Seal) -> None:
        if not self.staged.exists() or staging.digests(self.staged) != dict(seal.digests):
            raise ReleaseError(
                "the sealed files of this release are gone or changed; expected them in "
                f"{str(self.staged)!r}. Restore that folder from a backup. They cannot be "
                "computed again under the same charge, because the noise would be different."
            )

    def _seal(self, charge: Charge) -> Seal:
        return self.ledger.seal(charge, staging.digests(self.staged))

    def _publish(self, charge: Charge, seal: Seal, did: Did) -> Outcome:
        self.watch.step("publishing")
        staging.publish(self.staged, _public(seal.digests), self.target)
        self.ledger.publish(charge, place=str(self.target))
        return Outcome(self.target, charge, seal, did)

    def _is_whole(self) -> bool:
        """Whether the staging folder holds a finished release, as its manifest lists it."""
        manifest = self.staged / MANIFEST
        if not manifest.is_file():
            return False
        try:
            listed = json.loads(manifest.read_bytes())["files"]
            expected = {name: each["sha256"] for name, each in listed.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            return False  # cut short: it was being written
        found = staging.digests(self.staged)
        is_kept = found.pop(_RENDERING, None) is not None
        return is_kept and _public(found) == {**expected, MANIFEST: found[MANIFEST]}

    def _check_target(self) -> None:
        """Refuse a place that cannot be published to, before anything is charged."""
        if os.path.lexists(self.target):
            raise _taken(self.target)
        private = self.staged.parent.resolve()
        parent = next(each for each in self.target.parents if os.path.lexists(each))
        if private in (self.target.resolve(), *self.target.resolve().parents):
            raise ReleaseError(
                f"{str(self.target)!r} lies in the ledger's private folder; give another folder "
                "with --out."
            )
        if not parent.is_dir() or not os.access(parent, os.W_OK):
            raise ReleaseError(
                f"nothing can be written to {str(parent)!r}; give another folder with --out."
            )


def _public(digests: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of the files that are published, without the private ones."""
    return {name: each for name, each in digests.items() if not name.startswith(_NUMBERS)}


def _taken(target: Path) -> ReleaseError:
    return ReleaseError(
        f"{str(target)!r} exists already and holds something other than this release; give "
        "another folder with --out, or move it away."
    )


def ledger_of(loaded: LoadedSpec) -> Ledger:
    """Open the ledger that a spec names; a missing one is never made on the way."""
    path = loaded.ledger
    if path is None:
        raise SpecError(
            f"{loaded.path}: ledger: a release is charged to a ledger; name it, such as "
            "ledger: releases.ledger."
        )
    if not path.exists():
        raise LedgerError(
            lost_ledger(path)
            or f"there is no ledger {str(path)!r}. If it was lost, restore it from a backup: a new "
            "one would forget what was spent. If this is the first release, make it: "
            f"{create_command(loaded)}"
        )
    return Ledger.open(path)


def create_ledger(path: Path, budget: Policy | Mapping[str, Policy], name: str) -> Ledger:
    """Make a ledger; not where releases were charged to one that is gone."""
    lost = lost_ledger(path)
    if lost is not None:
        raise LedgerError(lost)
    return Ledger.create(path, budget, name=name)


def is_kept(ledger: Ledger, charge: Charge) -> bool:
    """Whether what was sealed for a charge is still there; true of one without a seal."""
    seal = ledger.seal_of(charge)
    if seal is None or charge.identity is None:
        return True
    folder = staging_folder(ledger, charge.identity)
    return folder.exists() and staging.digests(folder) == dict(seal.digests)


def staging_folder(ledger: Ledger, identity: str) -> Path:
    """Return where the files of a release are kept, sealed or not: beside the ledger, private."""
    return releases_folder(ledger.path) / identity[:32]
