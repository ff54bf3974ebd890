# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord schema`: the JSON Schema of a spec."""

from perrecord.cli.command import examples
from perrecord.cli.output import show_json

EXAMPLES = examples(
    "perrecord schema > release.schema.json",
    "# then begin release.yaml with: # yaml-language-server: $schema=release.schema.json",
)


def schema() -> None:
    """Print the JSON Schema of a release spec, for editors that complete and check YAML."""
    from perrecord.release.spec import spec_schema

    show_json(spec_schema())
