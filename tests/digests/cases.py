"""What is digested: the example release, random releases, sessions, and what commands print.

A case has a name, such as `spec 17`, and gives contents by the name of a file. Everything in it
follows from its name: the data, the questions, the bits. What holds a secret of a ledger, a day or
a folder is blanked out; floats of evaluations, which are for the eye, have ten digits.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import vl_convert
from typer.testing import CliRunner

from perrecord import BudgetExceededError, Policy, Query, Session
from tests.digests import inside

Contents = dict[str, bytes]

EXAMPLE = Path(__file__).parents[2] / "examples" / "business"
EXAMPLE_ROWS = 2_000
FULL: Mapping[str, int] = {"example": 1, "spec": 300, "session": 300, "commands": 20}
"""How many cases there are of each kind."""
QUICK: Mapping[str, int] = {"spec": 8, "session": 5, "commands": 1}
"""The first so many of them are what the test suite runs."""

_ROWS = 40
_SEED = 17
_PLACE = "FOLDER"
_GOAL = "80% for 30% of cells"
_HASH = re.compile("[0-9a-f]{32,}|(?<=hmac:)[0-9a-f]+")
_DAY = re.compile(r'(?<="day":")[^"]*|(?<=Made on )[\d-]+|(?<=\n\d      )[\d-]+')
_FLOAT = re.compile(rb"-?\b\d+\.\d+(?:e[+-]?\d+)?\b")
_FIELDS = {
    "sector": "farm",
    "code": 3,
    "big": True,
    "head": "f",
    "region": "North",
    "opened": "2020-02-29",
}
_MORE = {"zone": "a", "size": "small", "rate": "0.51"}
"""Fields that random queries read, and no random spec declares."""
_EXAMPLES = [
    {"name": "a small one", **_FIELDS, "emp": 3, "pay": 1.5, "rent": 0.1, "load": 1000},
    {"name": "a large one", **_FIELDS, "emp": 700, "pay": 90.5, "rent": -40, "load": 1000000},
]


def names(counts: Mapping[str, int]) -> list[str]:
    """Return the names of so many cases of each kind, the longest-running first."""
    return [f"{kind} {index}" for kind in reversed(counts) for index in range(counts[kind])]


def contents(case: str) -> Contents:
    """Return what a case gives, by file."""
    kind, _, index = case.partition(" ")
    random = Random(f"digests {case}")
    with TemporaryDirectory(prefix="perrecord-digests-") as name, chdir(name):
        found = _KINDS[kind](random, Path(name), int(index))
        return {file: _blanked(content, name) for file, content in found.items()}


# -- releases -----------------------------------------------------------------------------------


def _example(random: Random, folder: Path, index: int) -> Contents:
    shutil.copy(EXAMPLE / "release.yaml", folder)
    _ran("synth", "business", "--rows", EXAMPLE_ROWS, "--out", "est.parquet")
    _ran("synth", "keys", "--out", ".")
    _ran("ledger", "create", "release.yaml")
    found = {"check": _ran("check", "release.yaml")}
    inside.released(folder / "release.yaml", folder / "out", _SEED)
    fields = {"emp": 150, "payann": 9000, "payqtr1": 2200, "county": 37001, "naics2": 62}
    found["policy"] = _ran("policy", "out", *_record({**fields, "state": 37}))
    return found | _reports("release.yaml") | _files(folder / "out")


def _spec(random: Random, folder: Path, index: int) -> Contents:
    spec = inside.spec_of(random)
    path, asked = _written(random, folder, spec)
    _ran("ledger", "create", path)
    inside.released(path, path.parent / "out", _SEED + index)
    charged = _ledger("export", path.parent / inside.LEDGER)
    return {"asked": asked, "ledger": charged} | _files(path.parent / "out")


def _written(random: Random, folder: Path, spec: dict[str, Any]) -> tuple[Path, bytes]:
    """Write a spec with its files; return its path, and all of what is asked of which data."""
    spec["examples"] = _EXAMPLES
    rows = inside.rows_of(random, _ROWS)
    path = inside.written(folder / "work", spec, rows)
    return path, path.read_bytes() + b"\n".join(repr(row).encode() for row in rows)


def _files(folder: Path) -> Contents:
    """Return every file below a folder; a manifest without its charge, which holds a secret."""
    found = {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }
    manifest = "manifest.json"
    if manifest in found:
        stated = json.loads(found[manifest]) | {"charge": ""}
        found[manifest] = json.dumps(stated, ensure_ascii=False, indent=2).encode()
    return found


# -- sessions -----------------------------------------------------------------------------------


def _session(random: Random, folder: Path, index: int) -> Contents:
    rows = inside.rows_of(random, _ROWS)
    found = {"asked": b"\n".join(repr(row).encode() for row in rows)}
    with inside.opened(rows) as opened, inside.given_bits(_SEED + index):
        for currency, queries in inside.questions(random, opened).items():
            whole = _price(queries, opened, folder / f"{currency}.first")
            ledger = folder / f"{currency}.ledger"
            session = Session(opened, ledger=ledger, budget=whole, new=True)
            for place, query in enumerate(queries):
                found |= _asked(session, query, f"{currency} {place}")
            found[f"{currency} refused"] = _refused(session, queries[0])
            found[f"{currency} ledger"] = _ledger("export", ledger)
        if index % 3 == 0:
            found |= _on_rows(random, opened, folder / "rows.ledger")
    return found


def _price(queries: list[Query], opened: Any, ledger: Path) -> Policy:
    """Return what some queries cost together, from previews; nothing is charged."""
    one = Policy.constant(**{queries[0].currency.value: 1})
    session = Session(opened, ledger=ledger, budget=one, new=True)
    return Policy.total(session.preview(each).policy for each in queries)


def _asked(session: Session, query: Query, name: str) -> Contents:
    """Ask one query; return what is said before, and what is answered."""
    preview = session.preview(query, examples=[_typed(each) | _MORE for each in _EXAMPLES])
    policy = preview.policy
    said = [str(preview), policy.describe(), policy.to_json(), *map(str, preview.losses)]
    answers = session.ask_all(query)
    said += [repr(each) for each in answers]
    said += [f"{charge}: {policy!r}" for each in answers for charge, policy in each.charges]
    found = {f"{name} said": "\n".join(said).encode()}
    found[f"{name} csv"] = b"\n".join(_file(each.write_csv) for each in answers)
    for place, each in enumerate(answers):
        found[f"{name}.{place}.parquet"] = _file(each.write_parquet)
    return found


def _file(write: Callable[[Path], None]) -> bytes:
    path = Path("answers")
    write(path)
    return path.read_bytes()


def _typed(example: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example record of the specs as policies take it: no floats."""
    fields = {name: value for name, value in example.items() if name != "name"}
    return {name: str(value) if type(value) is float else value for name, value in fields.items()}


def _refused(session: Session, query: Query) -> bytes:
    """Return how one question more is refused, as the budget is spent."""
    try:
        session.ask_all(query)
    except BudgetExceededError as error:
        return str(error).encode()
    return b"it was answered"


def _on_rows(random: Random, opened: Any, ledger: Path) -> Contents:
    """Return the rows that a mechanism is given, sorted, and what they cost."""
    asked = inside.rows_asked(random)
    options: Any = {"columns": list(asked.columns), "rho": asked.rho, "where": asked.where}
    if asked.split is None:
        session = Session(opened, ledger=ledger, budget=Policy.constant(asked.rho), new=True)
        answer = session.run(_sorted, **options)
    else:
        budget = Policy.split(asked.rho, asked.split)
        session = Session(opened, ledger=ledger, budget=budget, new=True)
        answer = session.run_on_split_rows(_sorted, asked.split, **options)
    return {"rows": answer.result, "rows policy": answer.policy.to_json().encode()}


def _sorted(rows: pa.Table) -> bytes:
    return "\n".join(sorted(map(repr, rows.to_pylist()))).encode()


# -- commands -----------------------------------------------------------------------------------


def _commands(random: Random, folder: Path, index: int) -> Contents:
    wanted = "epsilon" if index % 5 == 4 else "rho"  # tuning is in zCDP alone
    spec = inside.spec_of(random)
    while wanted not in spec["budget"]:
        spec = inside.spec_of(random)
    if index % 5 != 0:
        spec["queries"] = [_without_clamps(each, wanted) for each in spec["queries"]]
    path, asked = _written(random, folder, spec)
    found = {"asked": asked, "ledger create": _ran("ledger", "create", path)}
    for form in ([], ["--json"]):
        record = _record(_typed(_EXAMPLES[index % 2]))
        found[" ".join(["check", *form])] = _ran("check", path, *form)
        found[" ".join(["policy", *form])] = _ran("policy", path, *form)
        found[" ".join(["policy --record", *form])] = _ran("policy", path, *record, *form)
    inside.released(path, folder / "out", _SEED)
    found["policy out"] = _ran("policy", folder / "out")
    found["ledger show"] = _ledger("show", path.parent / inside.LEDGER)
    return found | _reports(path)


def _reports(spec: Path | str) -> Contents:
    """Return what an evaluation and a tuning print, and the numbers of their figures.

    Their pages are left out: they show errors of noise that was drawn, which nobody gives bits.
    """
    found = {}
    with _nothing_drawn():
        for command, *options in (("evaluate",), ("tune", "--goal", _GOAL)):
            out = Path(f"{command}d")
            found[command] = _ran(command, spec, "--out", out, *options, "--json", "--quiet")
            for file, content in _files(out).items():
                if file.endswith((".csv", ".yaml")):
                    found[f"{out}/{file}"] = content
    return {file: _rounded(content) for file, content in found.items()}


def _rounded(content: bytes) -> bytes:
    """Return a text with ten digits of each float: the last ones depend on processor and order."""
    return _FLOAT.sub(lambda found: f"{float(found[0]):.10g}".encode(), content)


def _without_clamps(query: dict[str, Any], currency: str) -> dict[str, Any]:
    """Return a query that can be tuned: where values are cut off no amount reaches a goal."""
    kept = {
        name: answer
        for name, answer in query["answers"].items()
        if not {"clamp", "parts"} & answer.keys()
    }
    return {**query, "answers": kept or {"records": {"count": "records", currency: 0.1}}}


def _ran(*arguments: object) -> bytes:
    """Return what a command prints, on both streams, and how it ends."""
    environment = {"COLUMNS": "100", "NO_COLOR": "1"}
    words = [str(each) for each in arguments]
    ended = CliRunner().invoke(inside.program, words, prog_name="perrecord", env=environment)
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return f"{ended.stdout}\n{ended.stderr}\nexit code {ended.exit_code}\n".encode()


def _ledger(command: str, ledger: Path) -> bytes:
    """Return what is printed of a ledger, without days, and hashes that hold its secret."""
    said = _ran("ledger", command, ledger).decode()
    return _DAY.sub("DAY", _HASH.sub("HASH", said)).encode()


def _record(fields: Mapping[str, Any]) -> Iterator[str]:
    return (f"--record={name}={value}" for name, value in fields.items())


def _nothing_drawn() -> Any:
    """Let no picture be drawn, which takes seconds."""
    return patch.multiple(
        vl_convert,
        vegalite_to_svg=lambda spec, **options: '<svg width="600" height="400"></svg>',
        svg_to_png=lambda svg, **options: b"",
    )


# -- what is no result --------------------------------------------------------------------------


def _blanked(content: bytes, folder: str) -> bytes:
    """Return a text without the folder that it was made in."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    for place in (os.path.realpath(folder), folder):
        text = text.replace(place, _PLACE)
    return text.encode()


_KINDS: Mapping[str, Callable[[Random, Path, int], Contents]] = {
    "example": _example,
    "spec": _spec,
    "session": _session,
    "commands": _commands,
}
