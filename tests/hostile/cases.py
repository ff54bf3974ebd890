"""A case: the files of one bad input, all that a curator would run on it, and its canaries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.hostile import bases
from tests.hostile.canaries import Canaries

SPEC = "release.yaml"


@dataclass(frozen=True, slots=True)
class Case:
    """One bad input.

    `files` are all of its folder; those named in `data` hold confidential cells and are not
    searched. `source_is_bad` says that the spec is good. `prepare` does what bytes cannot, such as
    making a folder; `meanwhile` happens between the check and the release.
    """

    kind: str
    what: str
    base: str
    files: Mapping[str, bytes]
    data: tuple[str, ...]
    canaries: Canaries
    source_is_bad: bool = False
    prepare: Callable[[Path], None] | None = field(default=None, compare=False)
    meanwhile: Callable[[Path], None] | None = field(default=None, compare=False)


Builder = Callable[[Random, int], Case]
"""Builds a case of its kind from its own randomness and the number of those before it."""


def spec_case(
    kind: str, what: str, base: str, spec: bytes | str, random: Random, **options: object
) -> Case:
    """Return a case whose fault is in the spec; the source beside it is good, and Parquet."""
    canaries = Canaries(random)
    source = "est.parquet"
    files = {
        **bases.public_files(),
        source: bases.source_bytes(canaries, source),
        SPEC: spec.encode("utf-8") if isinstance(spec, str) else spec,
    }
    return Case(kind, what, base, files, (source,), canaries, **options)  # type: ignore[arg-type]


def good_files(base: str, random: Random) -> dict[str, bytes]:
    """Return the files of a good spec and its source, whose cells hold other canaries."""
    canaries = Canaries(random)
    source = "est.parquet"
    return {
        **bases.public_files(),
        source: bases.source_bytes(canaries, source),
        SPEC: bases.spec_text(base, source).encode(),
    }
