"""JSON-stat 2.0: one dataset for each table (https://json-stat.org/full/).

A cube with empty places has an object in place of its list of
values, by place, as the format allows.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from perrecord.release.exporting.cube import Cube, CubeAxis, cube_of
from perrecord.release.exporting.notes import table_notes
from perrecord.release.folders import PublishedTable, ReleaseFolder


def jsonstat(folder: ReleaseFolder) -> dict[str, bytes]:
    """Return every table of a release as a JSON-stat dataset, by file name."""
    found = {}
    for name in folder.tables:
        table = folder.table(name)
        dataset = _dataset(folder, table, cube_of(table, folder.labels(table)))
        written = json.dumps(dataset, ensure_ascii=False, default=_decimal, allow_nan=False)
        found[f"{name}.json"] = f"{written}\n".encode()
    return found


def _dataset(folder: ReleaseFolder, table: PublishedTable, cube: Cube) -> dict[str, Any]:
    *keys, answers = cube.axes
    values = cube.values()
    filled = {str(place): each for place, each in enumerate(values) if each is not None}
    return {
        "version": "2.0",
        "class": "dataset",
        "label": table.about.title,
        "source": folder.title,
        "note": list(table_notes(folder, table, cube.left_out)),
        "id": [axis.name for axis in cube.axes],
        "size": list(cube.size),
        "role": {"metric": [answers.name]},
        "dimension": {
            **{axis.name: _dimension(axis, table) for axis in keys},
            answers.name: _dimension(answers, table) | {"category": _metric(answers, table)},
        },
        "value": values if len(filled) == len(values) else filled,
    }


def _dimension(axis: CubeAxis, table: PublishedTable) -> dict[str, Any]:
    label = table.about.columns.get(axis.name) or axis.name
    return {"label": label, "category": _category(axis)}


def _category(axis: CubeAxis) -> dict[str, Any]:
    return {"index": list(axis.codes), "label": dict(zip(axis.codes, axis.labels, strict=True))}


def _metric(axis: CubeAxis, table: PublishedTable) -> dict[str, Any]:
    """Return the numbers of a cell, with the units of answers that have one."""
    units = {
        code: {"label": unit} for code in axis.codes if (unit := _unit(code, table.about.answers))
    }
    return _category(axis) | ({"unit": units} if units else {})


def _unit(column: str, answers: Mapping[str, Any]) -> str | None:
    return answers[column].unit if column in answers else None


def _decimal(value: object) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)
