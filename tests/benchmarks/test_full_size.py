"""The full-size benchmark measures what it says: the same workload on all sides, honest sums."""

import math
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from full_size.contenders import Run, Turns
from full_size.curve import Curve
from full_size.measuring import CommandError, Cost, measured
from full_size.same_answers import PLAIN, DifferentAnswersError, compare, is_same
from full_size.slow_peers import OPENDP, TUMULT, Estimate, Point
from full_size.workload import LEVELS, all_cells, cells, spec_text

from perrecord.lab.synth import business
from perrecord.lab.synth.industries import industry_codes
from perrecord.lab.synth.places import county_codes
from perrecord.release.spec import build, check_without_data, load_spec, open_table

EVERY_KEY = tuple(plain for plain in PLAIN if plain.how.startswith("every-key"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A hundred counties and a few industries of each level, with establishments in them."""
    path = tmp_path_factory.mktemp("data")
    business(20_000, path / "est.parquet")
    (path / "counties.csv").write_text("\n".join(["county", *county_codes()[:100]]) + "\n")
    for level in filter(None, LEVELS):
        codes = sorted({code[:level] for code in industry_codes()})[::7]
        (path / f"industries{level}.csv").write_text("\n".join([f"naics{level}", *codes]) + "\n")
    return path


@pytest.mark.parametrize("is_exact", [False, True])
def test_the_spec_is_valid(folder, tmp_path, is_exact):
    """Six queries within the budget, over every key."""
    spec = tmp_path / "release.yaml"
    spec.write_text(spec_text(folder, is_exact=is_exact, memory_limit="1GB", counts_firms=is_exact))
    loaded = load_spec(spec)
    check_without_data(loaded)
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
    assert len(workload.queries) == len(LEVELS)
    assert is_exact or workload.policy.is_below(workload.budget)


def test_all_sides_compute_the_same_numbers(folder, tmp_path):
    """DuckDB, Polars, and perrecord at amounts without noise: the same keys, the same answers."""
    assert compare(folder, tmp_path, EVERY_KEY) == all_cells(folder)
    assert all_cells(folder) == sum(cells(folder, level) for level in LEVELS)


def test_other_keys_are_noticed(folder, tmp_path):
    """Establishments of other counties than the keys' are in the occupied cells."""
    occupied = next(plain for plain in PLAIN if plain.how == "occupied")
    with pytest.raises(DifferentAnswersError, match="county"):
        compare(folder, tmp_path, (occupied,))


def test_another_number_is_noticed(tmp_path):
    """One cell of three, and a row given twice."""
    tables = [[1, 2, 3], [1, 2, 4], [1, 2, 3, 3], [3, 2, 1]]
    paths = []
    for index, values in enumerate(tables):
        paths.append(tmp_path / f"{index}.parquet")
        pq.write_table(pa.table({"n": values}), paths[-1])
    found = [is_same(paths[0], other, ["n"]) for other in paths]
    assert found == [True, False, False, True]


def test_memory_and_time_of_all_processes_are_counted(tmp_path):
    """Of one process, and of one that outlives the command."""
    held = "held = b'x' * 200_000_000"
    assert measured([sys.executable, "-c", held]).peak_mb > 200
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    left = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {busy!r}])"
    assert measured([sys.executable, "-c", left]).cpu > 0.3


def test_a_watched_folder_is_seen_while_it_is_full(tmp_path):
    """What a command spills and removes again."""
    spill = (
        "import os, pathlib, sys, time; path = pathlib.Path(sys.argv[1]) / 'spilled'; "
        "path.write_bytes(os.urandom(5_000_000)); time.sleep(1); path.unlink()"
    )
    assert measured([sys.executable, "-c", spill, tmp_path], watch=tmp_path).watched_mb >= 5


def test_a_failing_command_is_no_figure():
    """Its last line says why."""
    with pytest.raises(CommandError, match="no Java"):
        measured([sys.executable, "-c", "raise SystemExit('no Java')"])


SIZES = {0: 10, 2: 100, 3: 300, 4: 1000, 5: 2000, 6: 3000}


@pytest.mark.parametrize(("peer", "answers"), [(OPENDP, 1), (TUMULT, 7)])
def test_the_rest_of_a_slow_peer_follows_its_line(peer, answers):
    """3 s a level, 10 ms a cell, 1 ms a row, 2 s to start, a total twice a count."""

    def point(rows, level, answer=peer.answers[0]):
        inside = (3 + 0.01 * SIZES[level] + 0.001 * rows) * (2 if answer == "total" else 1)
        return Point(rows, level, answer, SIZES[level], inside + 2, inside, 100.0, inside)

    points = [*(point(800, level) for level in (0, 2, 3)), point(100, 2)]
    if peer is TUMULT:
        points.append(point(800, 2, "total"))
    found = Estimate(peer, "1", tuple(points), SIZES, 800)
    levels = [3 + 0.01 * size + 0.8 for size in SIZES.values()]
    assert found.whole == pytest.approx(2 + answers * sum(levels))
    assert found.coarse == pytest.approx(2 + answers * sum(levels[:3]))
    assert found.per_cell == pytest.approx(0.01 * answers)
    assert found.per_row == pytest.approx(0.001 * 6 * answers)


def curve(*walls):
    """Return a curve of these seconds at 1, 2, 4, ... million rows."""
    sizes = [10**6 * 2**index for index in range(len(walls))]
    return Curve(
        {
            rows: Turns("", (Run(Cost(wall, wall, 1.0, 0.0, ""), 1.0, {}),))
            for rows, wall in zip(sizes, walls, strict=True)
        }
    )


def test_a_straight_line_is_told_from_a_bend():
    """Fixed seconds do not count; where nothing grows, nothing is claimed."""
    assert curve(3, 4, 6, 10).steeper == pytest.approx(1)
    assert curve(3, 4, 6, 10).line == pytest.approx((2, 1e-6))
    assert curve(1, 4, 16, 64).steeper > 2
    assert math.isnan(curve(4, 3, 2, 1).steeper)
