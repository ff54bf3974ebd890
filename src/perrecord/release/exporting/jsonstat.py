"""JSON-stat 2.0: one dataset for each table (https://json-stat.org/full/).

A cube with empty places has an object in place of its list of values, by place, as the format
allows. A decimal is written with its own digits, so that a reader of decimals finds the same.
"""

import json
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
        cube = cube_of(table, folder.labels(table))
        about = json.dumps(_about(folder, table, cube), ensure_ascii=False)
        written = f'{about.removesuffix("}")}, "value": {_written(cube.values())}}}\n'
        found[f"{name}.json"] = written.encode()
    return found


def _about(folder: ReleaseFolder, table: PublishedTable, cube: Cube) -> dict[str, Any]:
    """Return a dataset without its values."""
    *keys, answers = cube.axes
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
    }


def _dimension(axis: CubeAxis, table: PublishedTable) -> dict[str, Any]:
    label = table.about.columns.get(axis.name) or axis.name
    return {"label": label, "category": _category(axis)}


def _category(axis: CubeAxis) -> dict[str, Any]:
    return {"index": list(axis.codes), "label": dict(zip(axis.codes, axis.labels, strict=True))}


def _metric(axis: CubeAxis, table: PublishedTable) -> dict[str, Any]:
    """Return the numbers of a cell, with their units where they have one."""
    known = table.about.units
    units = {code: {"label": known[code]} for code in axis.codes if code in known}
    return _category(axis) | ({"unit": units} if units else {})


def _written(values: list[Any]) -> str:
    """Return the values as JSON: decimals with all their digits, which no float would keep.

    >>> _written([3, Decimal("12345678901234567.10"), 0.5]), _written([3, None])
    ('[3, 12345678901234567.10, 0.5]', '{"0": 3}')
    """
    numbers = [
        format(each, "f") if isinstance(each, Decimal) else json.dumps(each, allow_nan=False)
        for each in values
    ]
    if None not in values:
        return f"[{', '.join(numbers)}]"
    filled = ((place, each) for place, each in enumerate(numbers) if each != "null")
    return "{" + ", ".join(f'"{place}": {each}' for place, each in filled) + "}"
