"""Every public list of a spec is read by settings beside its name, and says which it needs."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import SpecError
from perrecord.release.spec import build, load_spec, open_table

SPEC = """\
title: Farms by county
source: farms.parquet
table: farms
dimensions: {{county: , region: , zone: }}
measures: {{cattle: 1}}
lookups:
  - {{source: regions.csv, on: county, columns: [region]{settings}}}
hierarchies:
  - {{source: zones.csv, on: region, columns: [zone]{settings}}}
labels: {{county: {{file: names.csv{settings}}}}}
keys:
  counties: {{file: keys.csv, columns: [county]{settings}}}
budget: {{rho: 9, tapers: [{{measure: cattle, at: 50, rho: 0.2}}]}}
ledger: farms.ledger
queries:
  - name: counties
    group_by: county
    keys: counties
    answers:
      cattle: {{sum: cattle, taper: 50, blur: {{by: 0.1, scale: sizes.csv{numbers}}}, rho: 0.2}}
"""
LISTS = {
    "regions": [["county", "region", "zone"], ["Jülich", "Süd", "é"], ["Köln", "Nord", "ü"]],
    "zones": [["region", "zone"], ["Süd", "é"], ["Nord", "ü"]],
    "names": [["code", "näme"], ["Jülich", "Jülicher Land"], ["Köln", "Stadt Köln"]],
    "keys": [["county", "x"], ["Jülich", "ö"], ["Köln", "ö"]],
    "sizes": [["county", "cattle"], ["Jülich", "12.5"], ["Köln", "7"]],
}
SETTINGS = ', separator: ";", encoding: latin-1'


def made(folder, settings="", numbers="", separator=",", encoding="utf-8"):
    """Write a spec and its lists, and return its path."""
    rows = {"county": ["Köln"] * 9, "zone": ["ü"] * 9, "cattle": [3] * 9}
    pq.write_table(pa.table(rows), folder / "farms.parquet")
    for name, lines in LISTS.items():
        text = "".join(separator.join(line) + "\n" for line in lines)
        if name == "sizes" and separator == ";":
            text = text.replace(".", ",")
        (folder / f"{name}.csv").write_bytes(text.encode(encoding))
    written = SPEC.format(settings=settings, numbers=numbers)
    (folder / "release.yaml").write_text(written, "utf-8")
    return folder / "release.yaml"


def workload(path):
    """Return what a spec is built to."""
    loaded = load_spec(path)
    with open_table(loaded) as table:
        return build(loaded, table.schema)


def test_lists_are_the_same_however_they_are_written(tmp_path):
    """Keys, lookups, hierarchies, names of codes and scales."""
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one = workload(made(tmp_path / "one"))
    numbers = SETTINGS + ', decimal: ","'
    other = workload(made(tmp_path / "other", SETTINGS, numbers, ";", "latin-1"))
    assert one.plan.groupings == other.plan.groupings
    assert one.labels == other.labels
    sides = zip(one.schema.lookups, other.schema.lookups, strict=True)
    assert all(first.table.equals(second.table) for first, second in sides)


@pytest.mark.parametrize(
    "written", [{"separator": ";"}, {"encoding": "utf-16"}, {"encoding": "latin-1"}]
)
def test_every_list_says_at_its_line_what_to_type(tmp_path, written):
    """Those that are read before the source is opened, and those that are read after."""
    path = made(tmp_path, **written)
    with pytest.raises(SpecError) as caught:
        open_table(load_spec(path))
    setting, wanted = next(iter(written.items()))
    wanted = "windows-1252" if wanted == "latin-1" else wanted
    assert "release.yaml:7: lookups[0]: " in str(caught.value)
    assert f'{setting}: "{wanted}" beside its name' in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("columns: [county]", "columns: [county], separator: ;;", "the separator is ';;'"),
        ("{file: keys.csv, columns: [county]}", "{values: {county: [x]}, encoding: latin-1}",
         "encoding goes with file; here it has no effect"),
        ("blur: {by: 0.1, scale: sizes.csv}", "blur: {by: 0.1, separator: '|'}",
         "separator goes with scale; here it has no effect"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused_at_their_line(tmp_path, old, new, message):
    """With the name of the setting."""
    path = made(tmp_path)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(SpecError, match=message):
        workload(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("keys.csv", "the column of a list has the same name: rename it in the list"),
        ("regions.csv", r"the list has no column '\w+' .* on: \{\w+: Other\}"),
    ],
)
def test_a_column_of_another_name(tmp_path, name, message):
    """It is that of a list, and never called the source's."""
    path = made(tmp_path)
    written = (tmp_path / name).read_text("utf-8")
    first = written.partition("\n")[0].split(",")[0]
    (tmp_path / name).write_text(written.replace(first, "Other", 1), "utf-8")
    with pytest.raises(SpecError, match=message):
        workload(path)
