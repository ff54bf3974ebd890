"""The documents as a site: every page of the repository, and one of every public name.

    python tools/site.py

Pages are staged into build/documents with the layout of the repository, so that their links hold
there as they do in a checkout; zensical builds build/site from them and fails on any warning.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import perrecord

ROOT = Path(__file__).parent.parent
STAGED = ROOT / "build" / "documents"
_INTRODUCTION = """\
What `from perrecord import ...` offers, with every method. T4 and the like are statements
in [the mathematics](theory.md)."""
PAGES = ("*.md", "docs/**/*", "benchmarks/*.md", "examples/**/*.yaml", "examples/**/*.ipynb")


def stage() -> None:
    """Write the pages into build/documents, which is made afresh."""
    shutil.rmtree(STAGED, ignore_errors=True)
    for pattern in PAGES:
        for page in sorted(ROOT.glob(pattern)):
            if page.is_file():
                target = STAGED / page.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = page.read_bytes()
                target.write_bytes(text.replace(b"](../README.md)", b"](../index.md)"))
    (STAGED / "README.md").rename(STAGED / "index.md")
    (STAGED / "docs" / "api.md").write_text(api())


def api() -> str:
    """Return the page of every public name, from its docstring; errors come last."""
    errors = {name for name in perrecord.__all__ if name.endswith("Error")}
    names = [name for name in perrecord.__all__ if name not in errors]
    plain = "    options:\n      inherited_members: false"
    parts = [f"::: perrecord.{name}" for name in names]
    parts += [f"::: perrecord.{name}\n{plain}" for name in sorted(errors)]
    return "\n\n".join(["# Every public name", _INTRODUCTION, *parts, ""])


if __name__ == "__main__":
    stage()
    build = [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"]
    sys.exit(subprocess.run(build, cwd=ROOT, check=False).returncode)
