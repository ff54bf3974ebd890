"""`load_spec`: a YAML file -> the spec, checked as far as that goes without opening another."""

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from perrecord.errors import SpecError
from perrecord.release.spec.checks import check_spec
from perrecord.release.spec.entry import DECIDING
from perrecord.release.spec.explain import explained, is_echo
from perrecord.release.spec.models import Spec
from perrecord.release.spec.problems import Document, Problems, found
from perrecord.release.spec.read import parse_document, read_document
from perrecord.release.spec.unopened import check_unopened
from perrecord.tables.addresses import absolute_address, is_address
from perrecord.tables.files import matching_files
from perrecord.tables.given import Linked, Source
from perrecord.tables.reading import File


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A spec, the file it was read from, and the text that stands for it in a hash.

    `canonical` is JSON with every short form written out, every default left out and every number
    in its shortest exact form. Comments, layout, the order of keys of one entry and the folder do
    not change it; it is a spec itself, and loads as the same one.
    """

    spec: Spec
    path: Path
    canonical: str = field(repr=False)
    document: Document = field(repr=False, compare=False)

    @property
    def deciding(self) -> str:
        """What decides the numbers, as canonical text: without titles, labels and the like."""
        return canonical(self.spec, DECIDING)

    @property
    def folder(self) -> Path:
        """The folder that paths in the spec are relative to."""
        return self.path.resolve().parent

    def resolve(self, written: str) -> Path:
        """Return the path that the spec names, from its own folder."""
        return _plain(self.folder / Path(written).expanduser())

    @property
    def source(self) -> str | Path:
        """The source: an absolute path, or a database's address with an absolute path if any."""
        written = self.spec.source.path
        if is_address(written):
            return absolute_address(written, self.folder)
        return self.resolve(written)

    @property
    def last(self) -> Path | None:
        """The files of the period before, where records are changes since then."""
        return None if self.spec.source.last is None else self.resolve(self.spec.source.last)

    @property
    def given(self) -> Source:
        """What a table is opened from: the source, or both periods where they are linked."""
        read_by = self.spec.source.read_by
        own = self.source if isinstance(self.source, str) else read_by(self.source)
        return own if self.last is None else Linked(own, read_by(self.last))

    @property
    def settings(self) -> str:
        """How the files of the source are read, where the spec says so."""
        found = self.spec.source.read_by(self.spec.source.path)
        return found.settings if isinstance(found, File) else ""

    @property
    def own_files(self) -> tuple[Path, ...]:
        """The files of the source without the period before, each once; a database has none."""
        return matching_files(self.source) if isinstance(self.source, Path) else ()

    @property
    def source_files(self) -> tuple[Path, ...]:
        """The files of the source, then those of the period before if it is linked."""
        return (*self.own_files, *(() if self.last is None else matching_files(self.last)))

    @property
    def ledger(self) -> Path | None:
        """The absolute path of the ledger."""
        return None if self.spec.ledger is None else self.resolve(self.spec.ledger)

    @property
    def public_files(self) -> tuple[Path, ...]:
        """The files of keys, lookups and scales: they decide the release as the spec does."""
        keys = [entry.file for entry in self.spec.keys.values() if entry.file is not None]
        lookups = [entry.source for entry in self.spec.lookups]
        scales = [
            blur.scale
            for query in self.spec.queries
            for blur in (
                *(answer.blur for answer in (query.answers or {}).values()),
                *(query.blur or {}).values(),
            )
            if blur is not None and blur.scale is not None
        ]
        return tuple(dict.fromkeys(self.resolve(each) for each in [*keys, *lookups, *scales]))

    @property
    def shown_files(self) -> tuple[Path, ...]:
        """The files of hierarchies and labels: they decide how numbers are shown, and no number."""
        files = [each.source for each in self.spec.hierarchies]
        files += [each.file for each in self.spec.labels.values()]
        return tuple(dict.fromkeys(map(self.resolve, files)))

    def about(self, period: str | None, revision: str | None) -> "LoadedSpec":
        """Return the spec about a period that is given beside it, and why its data is another.

        It is the same spec, and so the same release, as one that names them itself.
        """
        given = {"period": period, "revision": revision}
        said = {name: each for name, each in given.items() if each is not None}
        for name, each in said.items():
            own = getattr(self.spec, name)
            if own not in (None, each):
                raise SpecError(
                    f"{self.path}: {name}: the spec says {own!r}, and {each!r} was given beside "
                    "it. Give one of the two."
                )
        spec = self.spec.model_copy(update=said)
        return replace(self, spec=spec, canonical=canonical(spec)) if said else self

    def problems(self) -> Problems:
        """Return a new list of problems of this spec."""
        return Problems(self.document)


def _plain(path: Path) -> Path:
    """Return a path without `..`, unless a link on its way makes that another place."""
    plain = Path(os.path.normpath(path))
    is_same = os.path.realpath(plain.parent) == os.path.realpath(path.parent)
    return plain if is_same else path


def load_spec(path: str | Path) -> LoadedSpec:
    """Return the spec of a YAML file, or raise a `SpecError` that shows every mistake at its line.

    Neither the source nor a file of keys is opened; `check_without_data`, `open_table` and `build`
    check the rest.
    """
    return _loaded(read_document(Path(path), str(path)), Path(path))


def parse_spec(text: str, path: str | Path = "release.yaml") -> LoadedSpec:
    """Return the spec of a YAML text, as if it stood in a file of that path.

    >>> loaded = parse_spec('''
    ... title: Farms
    ... source: farms.parquet
    ... budget: {rho: 1}
    ... queries: [{name: farms, answers: {farms: {count: records, rho: 0.1}}}]
    ... ''')
    >>> loaded.spec.queries[0].answers["farms"].rho
    (Fraction(1, 10),)
    """
    return _loaded(parse_document(text, str(path)), Path(path))


def _loaded(document: Document, path: Path) -> LoadedSpec:
    if not isinstance(document.value, dict):
        line = document.lines.get((0,), 1)
        raise SpecError(
            f"{document.name}:{line}: expected a mapping that begins with title: and source:, "
            f"found {found(document.value)}."
        )
    problems = Problems(document)
    try:
        spec = Spec.model_validate(document.value)
    except ValidationError as error:
        for each in error.errors(include_url=False):
            if not is_echo(each):
                problems.add(*explained(each, Spec))
        problems.check()
        raise
    for place, message in check_spec(spec):
        problems.add(place, message)
    check_unopened(spec, problems)
    problems.check()
    return LoadedSpec(spec, path, canonical(spec), document)


def canonical(spec: Spec, context: str | None = None) -> str:
    """Return the text that stands for a spec: the same for all ways to write it."""
    values = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True, context=context)
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def spec_schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec, for editors that complete and check YAML.

    >>> spec_schema()["required"]
    ['title', 'source', 'budget', 'queries']
    """
    schema = Spec.model_json_schema(by_alias=True, mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:perrecord:spec:1",
        **schema,
    }
