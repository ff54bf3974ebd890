# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord policy`: what a hypothetical record loses, and what that means."""

from pathlib import Path
from typing import Annotated

import typer

from perrecord.cli.command import examples
from perrecord.cli.file_settings import Decimal, Encoding, Separator, said_of_file
from perrecord.cli.losses import as_json as losses_as_json
from perrecord.cli.losses import losses_of_record, one_record, several_records
from perrecord.cli.output import amount, indented, show, show_json
from perrecord.cli.records import Subject, records_of, subject_of, typed_record
from perrecord.cli.together import as_json as joint_as_json
from perrecord.cli.together import together

EXAMPLES = examples(
    "perrecord policy published/policy.json",
    "perrecord policy published --record emp=150 --record payann=9000 --record county=37001",
    "perrecord policy published --record emp=4000 --record county=37001 --change emp=4400",
    "perrecord policy release.yaml --records examples.csv",
    "perrecord policy release.yaml --records examples.csv --separator ';' --decimal ,",
    "perrecord policy published --record emp=150 --json | jq '.records[0].loss'",
)


def policy(
    policy_or_spec: Annotated[
        Path,
        typer.Argument(
            help="A policy.json, the folder of a release, or a spec.", metavar="POLICY_OR_SPEC"
        ),
    ],
    record: Annotated[
        list[str] | None,
        typer.Option(
            help="A field of a hypothetical record; repeat it for each. emp= is a missing value.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            help="A field that differs in a second record; repeat it for each. Says what it costs "
            "if the record is replaced by the second one.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            help="A public CSV file of hypothetical records, such as the branches of a firm; a "
            "column 'name' may name them. Says what each loses, and all together."
        ),
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say what a hypothetical record loses by a release, and what that means.

    With --change, say what it costs if the record is replaced by another: how well the two could be
    told apart. Without a record, the policy is put into words. Nothing is charged: the policy is
    public. Do not type in the record of somebody whose values are confidential, as they would stay
    in the history of your shell.
    """
    from perrecord.tables.reading import File

    if record and records is not None:
        raise typer.BadParameter("give either --record or --records, not both.")
    if change and not record:
        raise typer.BadParameter("--change needs the record that is changed: --record emp=150.")
    said = said_of_file(separator=separator, encoding=encoding, decimal=decimal)
    if said and records is None:
        raise typer.BadParameter(f"--{next(iter(said))} is about a file of --records; give one.")
    written = typed_record(record or [])
    changed = typed_record(change or [], "--change")
    subject = subject_of(policy_or_spec)
    if records is not None:
        given = records_of(File(records, **said), subject)
    elif changed:
        _show_change(subject, written, {**written, **changed}, as_json=as_json)
        return
    elif written:
        given = [("record", subject.record(written))]
    else:
        _show_policy(subject, as_json=as_json)
        return
    found = [losses_of_record(subject, name, each) for name, each in given]
    joint = None if records is None else together(subject, [each for _, each in given])
    if as_json:
        show_json(
            {
                "title": subject.published.title,
                "records": [losses_as_json(each) for each in found],
                **({} if joint is None else {"together": joint_as_json(joint)}),
            }
        )
    elif joint is None:
        show(subject.published.title, "", *one_record(found[0]))
    else:
        show(subject.published.title, "", *several_records(found, joint))


def _show_change(
    subject: Subject, written: dict[str, str], other: dict[str, str], *, as_json: bool
) -> None:
    from perrecord.cli.changes import as_json as change_as_json
    from perrecord.cli.changes import change_of_records, one_change

    found = change_of_records(subject, subject.record(written), subject.record(other))
    if as_json:
        show_json({"title": subject.published.title, "change": change_as_json(found)})
    else:
        show(subject.published.title, "", *one_change(found))


def _show_policy(subject: Subject, *, as_json: bool) -> None:
    from perrecord.exact import text

    published = subject.published
    least, most = published.total.minimum(), published.total.supremum()
    if as_json:
        show_json(
            {
                "title": published.title,
                "words": published.total.describe(),
                "policy": published.total.document(),
                "least": text(least),
                "most": None if most is None else text(most),
            }
        )
        return
    bound = "no bound on what large records lose" if most is None else f"most {amount(most)}"
    show(
        published.title,
        "",
        *indented(published.total, margin=""),
        "",
        f"The least that a record loses is {amount(least)}; {bound}.",
        "",
        f"Fields of a record: {', '.join(subject.kinds)}.",
    )
