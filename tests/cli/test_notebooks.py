"""The notebooks run from top to bottom, and each cell shows what its text says."""

import ast
import json

import pytest

from tests.cli.test_quickstart import ROOT

FOLDER = ROOT / "examples" / "notebooks"


def shown(name):
    """Return what the code cells of a notebook show, run one after the other."""
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    space, found = {}, []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"]  # what stands in the file would be of another run
        *first, last = ast.parse("".join(cell["source"])).body
        value = None
        if isinstance(last, ast.Expr):
            last = ast.Expression(last.value)
        exec(compile(ast.Module(first, []), name, "exec"), space)
        if isinstance(last, ast.Expression):
            value = eval(compile(last, name, "eval"), space)
        else:
            exec(compile(ast.Module([last], []), name, "exec"), space)
        found.append(value)
    return found


def test_the_quickstart_answers_and_says_what_it_costs():
    """Numbers near the truth, losses as in the README, tables that a notebook can show."""
    *_, answers, rows, losses, policy = shown("quickstart")
    assert "<td>VA</td>" in answers._repr_html_()
    assert policy._repr_html_()
    true = {"NM": 488_138, "TX": 418_844, "VA": 0}
    for row in rows:
        assert abs(row["cattle"] - true[row["state"]]) < 20 * row["cattle_se"]
    assert losses == pytest.approx({20: 0.232, 50: 0.4, 100_000: 50.5}, rel=0.01)


def test_choosing_compares_tapering_with_splitting():
    """Giants lose thousands of times less; size and amount are nearly one choice."""
    _, both, ratios, power, release, losses = shown("choosing")
    assert both[50] == ("0.2", "0.2")
    assert float(both[50_000][1]) > 1_000 * float(both[50_000][0])
    assert all(0.95 < ratio < 1.05 for ratio in ratios)
    assert power["1"] == "59%"
    assert release._repr_html_()
    assert losses[50] == "0.5"


def test_every_notebook_is_tested():
    """And is one that Jupyter opens: each cell has an id of its own."""
    assert {each.stem for each in FOLDER.glob("*.ipynb")} == {"quickstart", "choosing"}
    for each in FOLDER.glob("*.ipynb"):
        book = json.loads(each.read_text(encoding="utf-8"))
        assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
        names = [cell["id"] for cell in book["cells"]]
        assert len(set(names)) == len(names)
