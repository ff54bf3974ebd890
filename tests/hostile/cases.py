"""A case: the files of one bad input, all that a curator would run on it, and its canaries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.hostile import bases
from tests.hostile.canaries import Canaries

SPEC = "release.yaml"

Place = tuple[str | int, ...]
"""Where in a spec: keys of mappings and places in lists, from the top."""


@dataclass(frozen=True, slots=True)
class Case:
    """One bad input.

    `files` are all of its folder; those named in `data` hold confidential cells and are not
    searched. `source_is_bad` says that the spec is good. `must_refuse` says that the input is
    malformed for certain, so that to accept it is a fault. `places` are the paths of the one value
    that was changed, before and after; there are none if more was changed. `prepare` does what
    bytes cannot, such as making a folder; `meanwhile` happens between the check and the release.
    """

    kind: str
    what: str
    base: str
    files: Mapping[str, bytes]
    data: tuple[str, ...]
    canaries: Canaries
    source_is_bad: bool = False
    must_refuse: bool = False
    places: tuple[Place, ...] = ()
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


def good_files(base: str, canaries: Canaries) -> dict[str, bytes]:
    """Return the files of a good spec and its source, whose cells hold new canaries."""
    source = "est.parquet"
    return {
        **bases.public_files(),
        source: bases.source_bytes(canaries, source),
        SPEC: bases.spec_text(base, source).encode(),
    }
