# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What commands share that read confidential data to report to the curator."""

import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.opening import Opened, opened
from perrecord.cli.output import say, show
from perrecord.errors import InputError

if TYPE_CHECKING:
    from perrecord.evaluate.coverage import Coverage
    from perrecord.release.spec import LoadedSpec
    from perrecord.tables.given import Linked

Spec = Annotated[Path, typer.Argument(help="The release spec, a YAML file.", metavar="SPEC")]
Source = Annotated[
    str | None,
    typer.Option(
        help="Read this file, with the same columns, instead of the spec's source.", metavar="FILE"
    ),
]
Last = Annotated[
    str | None,
    typer.Option(
        help="With --source, for a spec about changes: the file of the previous period.",
        metavar="FILE",
    ),
]
Public = Annotated[
    bool,
    typer.Option(
        "--public",
        help="What --source names is public or synthetic: write an ordinary folder without marks.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]

MARK = "CONFIDENTIAL"


@contextmanager
def opened_for(
    spec: Path,
    source: str | None,
    last: str | None,
    out: Path,
    *,
    is_public: bool,
    report: str,
    on_step: Callable[[str], None],
) -> Iterator[tuple[Opened, tuple["Coverage", ...]]]:
    """Give an opened spec, and how much of its data lies in the keys that it declares.

    Nothing is read where the folder for the results, or an earlier report in it, cannot be used;
    and nothing has been made when something is refused here.
    """
    from perrecord.evaluate.confidential import check_folder
    from perrecord.evaluate.coverage import check_coverage, coverage
    from perrecord.evaluate.tuning.of_spec import queries_of
    from perrecord.report.write import check_report
    from perrecord.tables.addresses import is_address
    from perrecord.tables.readable import check_links

    check_folder(out, is_public=is_public)
    check_report(out, report)
    other = _other_source(spec, source, last, is_public=is_public)
    with opened(spec, other) as found:
        check_links(found.table)
        on_step("counting the records in the declared keys")
        covered = coverage(found.table, queries_of(found.workload))
        is_named = isinstance(other, str) and not is_address(other)
        place = repr(other) if is_named else "the source"
        check_coverage(covered, found.table, is_public=is_public, place=place)
        yield found, covered


def _other_source(
    spec: Path, source: str | None, last: str | None, *, is_public: bool
) -> "str | Linked | None":
    """Return what is read in place of the spec's own source, None for that one.

    What is public must be named, the spec's own source too: it is confidential unless somebody
    says so in so many words. Where records are changes, both periods are named.
    """
    from perrecord.release.spec import load_spec
    from perrecord.tables.given import Linked

    loaded = load_spec(spec)
    if source is None and is_public:
        raise InputError(
            "--public says that data may be looked at; name that data with --source. Without it "
            f"the source of {spec.name} itself would be read, which is confidential. If that one "
            f"really is public, say so: {_own_options(loaded)}"
        )
    if last is not None and loaded.last is None:
        raise InputError(f"{spec.name} is about one period; leave --last out.")
    if loaded.last is not None and (source is None) != (last is None):
        given = f"--source {shlex.quote(source or 'FILE')} --last {shlex.quote(last or 'FILE')}"
        raise InputError(
            f"{spec.name} is about changes between two periods; name the files of both: {given}"
        )
    if source is None:
        return None
    is_own = _is_own(loaded, source)
    if last is None:
        return None if is_own else source
    if not glob(last, recursive=True):
        raise InputError(f"there is no file {last!r} to read as the period before.")
    is_before = loaded.last is not None and Path(last).resolve() == loaded.last.resolve()
    return None if is_own and is_before else Linked(source, last)


def _own_options(loaded: "LoadedSpec") -> str:
    """Return what to type to name the spec's own source; an address may hold a password."""
    own, last = loaded.source, loaded.last
    named = "the spec's address" if isinstance(own, str) else shlex.quote(os.path.relpath(own))
    before = "" if last is None else f" --last {shlex.quote(os.path.relpath(last))}"
    return f"--source {named}{before}"


def _is_own(loaded: "LoadedSpec", source: str) -> bool:
    """Tell whether the spec itself names the source; refuse files that are not there."""
    from perrecord.tables.addresses import absolute_address, is_address

    own = loaded.source
    if is_address(source):
        folders = (Path.cwd(), loaded.folder)
        return own in [absolute_address(source, folder) for folder in folders]
    if not glob(source, recursive=True):
        raise InputError(f"there is no file {source!r} to read in place of the source.")
    return isinstance(own, Path) and Path(source).resolve() == own.resolve()


def outside_lines(covered: Iterable["Coverage"]) -> Iterator[str]:
    """Yield, for each grouping with records outside its declared keys, how many there are."""
    from perrecord.report.coverage import outside

    yield from (outside(each) for each in covered if each.outside)


def coverage_rows(covered: Iterable["Coverage"]) -> list[dict[str, Any]]:
    """Return the same for programs."""
    return [
        {
            "query": each.query,
            "by": list(each.columns),
            "records": each.records,
            "outside": each.outside,
            "outside_keys": each.outside_keys,
            "outside_shares": dict(each.shares),
        }
        for each in covered
    ]


def show_marked(lines: Iterable[str], *, is_public: bool) -> None:
    """Write lines to stdout; unless they are public, the first says that they are not."""
    if not is_public:
        show(f"{MARK}: exact results of the data, for the curator alone.")
    show(*lines)


def warn(*, is_public: bool) -> None:
    """Say, once the work is done, what may be done with its results."""
    if not is_public:
        say(
            f"{MARK}: nothing was charged. Do not publish these results, or anything chosen by "
            "looking at them."
        )
