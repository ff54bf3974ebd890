"""The documents as a site: whole, linked, and asking no other machine."""

import importlib.util
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import FunctionType

import perrecord

ROOT = Path(__file__).parent.parent.parent
LOADED = re.compile(r"""<(?:script|link|img|iframe)[^>]*\s(?:src|href)=["']?(https?:[^"' >]+)""")


def named(entry):
    """Return the pages of an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    entries = entry.values() if isinstance(entry, dict) else entry
    return [page for each in entries for page in named(each)]


def methods():
    """Yield every public method and property of every public class, inherited ones included."""
    for name in perrecord.__all__:
        value = getattr(perrecord, name)
        if inspect.isclass(value) and not issubclass(value, Exception):
            for parent in value.__mro__:
                if parent.__module__.startswith("perrecord."):
                    callables = (FunctionType, classmethod, staticmethod, property)
                    yield from (
                        f"{name}.{each}"
                        for each, held in vars(parent).items()
                        if not each.startswith("_") and isinstance(held, callables)
                    )


def test_every_page_has_its_place_in_the_navigation():
    """Once, whatever is written later."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text())
    pages = named(config["project"]["nav"])
    written = {f"docs/{each.name}" for each in (ROOT / "docs").glob("*.md")} | {"docs/api.md"}
    assert sorted(each for each in pages if each.startswith("docs/")) == sorted(written)


def test_the_site_builds_without_a_warning_and_asks_no_other_machine():
    """A link to a page or heading that is not there is a warning."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "site.py"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((ROOT / "build" / "site").rglob("*.html"))
    assert len(pages) > 30
    asked = {found for each in pages for found in LOADED.findall(each.read_text())}
    assert not asked
    shown = (ROOT / "build" / "site" / "docs" / "api.html").read_text()
    written = {*re.findall(r'id="perrecord\.([\w.]+)"', shown)}
    assert {*perrecord.__all__} <= written
    assert {"Policy.loss", "Session.ask"} <= {*methods()} <= written
    theory = (ROOT / "build" / "site" / "docs" / "theory.html").read_text()
    linked = {*re.findall(r'href="theory\.html#([\w-]+)"', shown)}
    assert "adding-up-t4-t5-t6" in linked
    assert all(f'id="{each}"' in theory for each in linked)


def test_the_pictures_of_the_paper_are_of_numbers_that_the_page_states(tmp_path):
    """Drawn anew they are the same, byte by byte."""
    place = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "paper_pictures.py")
    tool = importlib.util.module_from_spec(place)
    place.loader.exec_module(tool)
    drawn, tool.FOLDER = tool.FOLDER, tmp_path
    tool.main()
    assert {each.name: each.read_bytes() for each in drawn.iterdir()} == {
        each.name: each.read_bytes() for each in tmp_path.iterdir()
    }


def test_numbers_of_statements_are_links_in_guides():
    """Those of the theory stand bare in its own page and in those for who changes the code."""
    for page in (ROOT / "docs").glob("*.md"):
        if page.name in ("architecture.md", "assurance.md", "theory.md"):
            continue
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.findall(r"(?<![\[\w#-])T\d+\b", text), page.name
