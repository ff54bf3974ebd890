"""SDMX-CSV 2.0 with its structure message, SDMX-ML 3.0, written by pysdmx.

Every table is a dataflow of its own: its keys are dimensions with code lists, its numbers measures,
the words and flags beside them attributes. Names become ids that SDMX takes; what they were is the
name beside the id.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
from pysdmx.io import write_sdmx
from pysdmx.io.format import Format
from pysdmx.model import (
    Code,
    Codelist,
    Component,
    Components,
    Concept,
    ConceptScheme,
    Dataflow,
    DataStructureDefinition,
    DataType,
    ItemReference,
    Organisation,
    Role,
)
from pysdmx.model.message import Header

from perrecord.errors import visible
from perrecord.release.exporting.cube import code_of, is_number
from perrecord.release.folders import PublishedTable, ReleaseFolder

AGENCY, VERSION = "PERRECORD", "1.0"
STRUCTURE = "structure.xml"

_CONCEPTS = "CONCEPTS"
_TOTAL = "total of all records"
_UNKNOWN = "_U"
"""SDMX's own code of what is not known."""


def sdmx(folder: ReleaseFolder) -> dict[str, bytes]:
    """Return the structure message of a release and the SDMX-CSV file of each table."""
    files, artefacts = dict[str, bytes](), list[Any]()
    flows = ids(folder.tables)
    for name in folder.tables:
        table = _keyed(folder.table(name))
        flow = _Flow(flows[name], ids(table.rows.column_names), table, folder.labels(table))
        artefacts += flow.structure()
        files[f"{name}.csv"] = flow.data()
    header = Header(
        id="RELEASE", sender=Organisation(AGENCY), prepared=datetime(1980, 1, 1, tzinfo=UTC)
    )
    message = write_sdmx(artefacts, Format.STRUCTURE_SDMX_ML_3_0, header=header)
    return {STRUCTURE: (message or "").encode(), **files}


def _keyed(table: PublishedTable) -> PublishedTable:
    """Return a table that has a dimension, as every structure must; a total gets one."""
    if table.keys:
        return table
    rows = table.rows.add_column(0, _TOTAL, pa.array(["_T"] * table.rows.num_rows, pa.string()))
    return replace(table, rows=rows, about=replace(table.about, keys={_TOTAL: None}))


def ids(names: Iterable[str]) -> dict[str, str]:
    """Return an SDMX id for each name, each once.

    >>> ids(["naics2", "size class", "size_class", "2020"])
    {'naics2': 'NAICS2', 'size class': 'SIZE_CLASS', 'size_class': 'SIZE_CLASS_2', '2020': 'X2020'}
    """
    found, taken = {}, {"STRUCTURE", "STRUCTURE_ID", "ACTION"}
    for name in names:
        plain = re.sub(r"[^A-Z0-9_]", "_", name.upper())
        found[name] = _free(plain if re.match("[A-Z]", plain) else f"X{plain}", taken)
    return found


def codes_of(values: Iterable[Any]) -> dict[Any, str]:
    """Return an SDMX code for each value of a key, each once.

    >>> codes_of(["44-45", "São Paulo", "S_o Paulo", None])
    {'44-45': '44-45', 'São Paulo': 'S_o_Paulo', 'S_o Paulo': 'S_o_Paulo_2', None: '_U'}
    """
    taken, found = {_UNKNOWN}, {}
    for value in values:
        plain = re.sub(r"[^A-Za-z0-9_@$-]", "_", code_of(value)) or "_"
        found[value] = _UNKNOWN if value is None else _free(plain, taken)
    return found


def _free(wanted: str, taken: set[str]) -> str:
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted}_{number}"
    taken.add(found)
    return found


@dataclass(frozen=True, slots=True)
class _Flow:
    """One table as a dataflow."""

    id: str
    columns: Mapping[str, str]
    """The id of each column."""
    table: PublishedTable
    labels: Mapping[str, Mapping[Any, str]]

    def structure(self) -> list[Any]:
        """Return the artefacts that describe the table."""
        lists = {key: self._codelist(key) for key in self.table.keys}
        concepts = [
            Concept(id=each, name=visible(name), description=self._said(name))
            for name, each in self.columns.items()
        ]
        scheme = f"{self.id}_{_CONCEPTS}"
        structure = DataStructureDefinition(
            id=self.id,
            name=visible(self.table.about.title),
            version=VERSION,
            agency=AGENCY,
            components=Components(list(self._components(scheme, lists))),
        )
        return [
            *lists.values(),
            ConceptScheme(id=scheme, name=scheme, version=VERSION, agency=AGENCY, items=concepts),
            structure,
            Dataflow(
                id=self.id,
                name=visible(self.table.about.title),
                version=VERSION,
                agency=AGENCY,
                structure=structure,
            ),
        ]

    def _said(self, column: str) -> str | None:
        about = self.table.about
        unit = f"; unit: {about.units[column]}" if column in about.units else ""
        return visible(about.columns.get(column, "") + unit) or None

    def _components(self, scheme: str, lists: Mapping[str, Codelist]) -> Iterator[Component]:
        for field in self.table.rows.schema:
            concept = ItemReference(
                sdmx_type="Concept",
                agency=AGENCY,
                id=scheme,
                version=VERSION,
                item_id=self.columns[field.name],
            )
            if field.name in lists:
                role, kind, codes = Role.DIMENSION, DataType.STRING, lists[field.name]
            elif is_number(field.type):
                whole = pa.types.is_integer(field.type)
                kind = DataType.LONG if whole else DataType.DOUBLE
                role, codes = Role.MEASURE, None
            else:
                role, kind, codes = Role.ATTRIBUTE, _word_type(field.type), None
            yield Component(
                id=self.columns[field.name],
                required=role is Role.DIMENSION,
                role=role,
                concept=concept,
                local_dtype=kind,
                local_codes=codes,
                attachment_level="O" if role is Role.ATTRIBUTE else None,
            )

    def _values(self, key: str) -> dict[Any, str]:
        return codes_of(self.table.rows.column(key).unique().to_pylist())

    def _codelist(self, key: str) -> Codelist:
        named = self.labels.get(key, {})
        return Codelist(
            id=f"{self.id}_{self.columns[key]}",
            name=visible(key),
            version=VERSION,
            agency=AGENCY,
            items=[
                Code(id=code, name=visible(named.get(value) or code_of(value)))
                for value, code in self._values(key).items()
            ],
        )

    def data(self) -> bytes:
        """Return the rows as SDMX-CSV: the dataflow, what is to be done, and the columns."""
        rows = self.table.rows
        count = rows.num_rows
        columns: dict[str, Any] = {
            "STRUCTURE": pa.array(["dataflow"] * count, pa.string()),
            "STRUCTURE_ID": pa.array([f"{AGENCY}:{self.id}({VERSION})"] * count, pa.string()),
            "ACTION": pa.array(["I"] * count, pa.string()),
        }
        ordered = sorted(rows.schema, key=self._rank)
        for field in ordered:
            column = rows.column(field.name)
            if field.name in self.table.keys:
                codes = self._values(field.name)
                column = pa.array([codes[each] for each in column.to_pylist()], pa.string())
            columns[self.columns[field.name]] = column
        buffer = BytesIO()
        pa_csv.write_csv(pa.table(columns), buffer, pa_csv.WriteOptions(quoting_style="needed"))
        return buffer.getvalue()

    def _rank(self, field: pa.Field) -> int:
        """Return where a column stands: dimensions, then measures, then attributes."""
        return 0 if field.name in self.table.keys else 1 if is_number(field.type) else 2


def _word_type(kind: pa.DataType) -> DataType:
    return DataType.BOOLEAN if pa.types.is_boolean(kind) else DataType.STRING
