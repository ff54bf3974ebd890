"""What the source never does: run text as code, read foreign objects, draw weak randomness."""

import ast
import inspect
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from perrecord import Session
from perrecord.cli import app
from perrecord.release.publish import release

SOURCE = Path(__file__).parent.parent.parent / "src" / "perrecord"

RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
READS_OBJECTS = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
LOADS = ("load", "load_all")
WEAK = {"random", "numpy.random"}
MAY_BE_WEAK = ("lab/", "studio/synthetic.py")
"""Synthetic data and simulations, which anybody should be able to repeat; none of it is noise."""


@cache
def tree(text):
    """Return every node of a module."""
    return list(ast.walk(ast.parse(text)))


def imports(nodes):
    """Return the modules that are imported, and those whose names are reached through others."""
    found = set()
    for node in nodes:
        match node:
            case ast.Import(names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module, names, level) if not level:
                found |= {module, *(f"{module}.{alias.name}" for alias in names)}
            case ast.Attribute(ast.Name("np" | "numpy"), "random"):
                found.add("numpy.random")
    return found


def dangers(text):
    """Return what a module does that none of ours may do."""
    nodes, found = tree(text), []
    for node in nodes:
        match node:
            case ast.Call(ast.Name(name)) if name in RUNS_TEXT:
                found.append(name)
            case ast.Call(ast.Attribute(ast.Name("os"), name)) if name in ("system", "popen"):
                found.append(f"os.{name}")
            case ast.Call(ast.Attribute(ast.Name("yaml"), name)) if (
                name.endswith(LOADS) and name != "safe_load"
            ):
                found.append(f"yaml.{name}")
            case ast.keyword("typ", ast.Constant("unsafe")):
                found.append("unsafe YAML")
            case ast.Call(keywords=keywords) if any(
                each.arg == "shell"
                and not (isinstance(each.value, ast.Constant) and not each.value.value)
                for each in keywords
            ):
                found.append("shell")
            case ast.Call(keywords=keywords) if any(
                each.arg == "allow_pickle" for each in keywords
            ):
                found.append("allow_pickle")
    return found + sorted(imports(nodes) & READS_OBJECTS)


def modules():
    """Yield every module of ours: its path from the package, and its text."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE), path.read_text("utf-8")


def test_no_module_runs_text_or_reads_objects(record_property):
    """No eval, no exec, no shell, no pickle, no YAML but its events."""
    every = dict(modules())
    assert {str(path): found for path, text in every.items() if (found := dangers(text))} == {}
    record_property("modules of the source looked at", len(every))


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')",
        "exec('1')",
        "import pickle",
        "from pickle import loads",
        "import subprocess; subprocess.run('x', shell=True)",
        "import os; os.system('x')",
        "import yaml; yaml.load('x')",
        "import yaml; yaml.unsafe_load('x')",
        "from ruamel.yaml import YAML; YAML(typ='unsafe')",
        "import numpy as np; np.load('x', allow_pickle=True)",
    ],
)
def test_a_danger_is_seen(text):
    """Positive controls."""
    assert dangers(text)


def weak(text):
    """Return the weak sources of randomness that a module uses."""
    return sorted(imports(tree(text)) & WEAK)


def test_weak_randomness_stays_out_of_releases():
    """Only synthetic data, simulations and audits may be repeated by a seed."""
    found = {
        str(path)
        for path, text in modules()
        if weak(text) and not str(path).startswith(MAY_BE_WEAK)
    }
    assert found == set()
    assert weak("import random") == ["random"]
    assert weak("import numpy as np\nnp.random.default_rng(1)") == ["numpy.random"]
    assert weak("from numpy.random import default_rng") == ["numpy.random"]


def commands(group, name=""):
    """Yield every command of the command line with its options."""
    for each, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name}{each} ")
        else:
            yield f"{name}{each}", {option.name for option in command.loaded().params}


def test_no_command_that_charges_takes_a_seed():
    """Noise is the operating system's: synthetic data and audits alone can be repeated."""
    seeded = {name for name, options in commands(get_command(app)) if "seed" in options}
    assert {name.split()[0] for name in seeded} <= {"synth", "reproduce", "audit"}
    for function in (release, Session.__init__, Session.ask):
        public = {name for name in inspect.signature(function).parameters if name[:1] != "_"}
        assert not {name for name in public if "seed" in name or "bits" in name}


PARSES_JSON = {
    "policy/reading.py",  # a policy document that somebody else may have written
    "release/reading.py",  # a policy.json, by whoever has only the file
    "accounting/rows.py",  # the lines of a ledger, from its file
    "accounting/entries.py",  # a line, once, to see that nothing is lost on its way to the file
    "release/folders.py",  # the manifest and package of a published folder
    "mechanisms/kept.py",  # the noise that kept numbers were drawn with, from their file
    "release/publish.py",  # the manifest of an earlier run, from its folder
}
"""The modules that read JSON back; audits, in `lab`, read what was published, as anybody would."""
MAKES_TEXT = {"to_json", "describe", "formula", "latex", "export", "dumps", "repr", "text"}
TAKES_APART = {
    "split", "rsplit", "splitlines", "partition", "rpartition", "removeprefix", "removesuffix",
    "strip", "lstrip", "rstrip", "startswith", "endswith", "loads", "Fraction", "rational",
}  # fmt: skip


def called(node):
    """Return the name that a call goes by; None for what is no call by name."""
    match node:
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)):
            return name
    return None


def parses_json(text):
    """Tell whether a module reads JSON."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("load", "loads")
        and isinstance(node.value, ast.Name)
        and node.value.id == "json"
        for node in tree(text)
    )


def reads_itself(text):
    """Return where a module takes apart the text that it makes in the same breath."""
    found = []
    for node in tree(text):
        match node:
            case ast.Call(ast.Attribute(inner, name)) if name in TAKES_APART:
                taken = [inner, *node.args]
            case ast.Call(ast.Name(name)) if name in TAKES_APART:
                taken = node.args
            case _:
                taken = []
        found += [f"{name}({called(each)})" for each in taken if called(each) in MAKES_TEXT]
    return found


def test_nothing_is_parsed_back_from_its_own_text():
    """Documents are values that become text once; only what comes from a file is read."""
    every = {str(path): text for path, text in modules()}
    parsing = {path for path, text in every.items() if parses_json(text)}
    assert {path for path in parsing if not path.startswith("lab/")} == PARSES_JSON
    assert {path: found for path, text in every.items() if (found := reads_itself(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "json.loads(policy.to_json())",
        "json.loads(json.dumps(fields))",
        "policy.describe().splitlines()",
        "repr(policy).removeprefix('Policy(')",
        "Fraction(text(amount))",
        "[line.strip() for line in ledger.export().split('x')]",
    ],
)
def test_text_that_is_read_back_is_seen(text):
    """Positive controls, taken from what there once was."""
    assert reads_itself(text)
    assert parses_json("import json\njson.loads(written)")
    assert not parses_json("import json\njson.dumps(written)")


ENVIRONMENT = {"PERRECORD_DEBUG"}
"""Shows where an error nobody foresaw happened; what it said is withheld while data is open."""


def variables(text):
    """Return the environment variables that a module reads; `?` for one that cannot be told."""
    constants = {
        node.targets[0].id: node.value.value
        for node in tree(text)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    found = set()
    for node in tree(text):
        match node:
            case (
                ast.Call(ast.Attribute(ast.Attribute(attr="environ")), [name, *_])
                | ast.Subscript(ast.Attribute(attr="environ"), name)
                | ast.Call(ast.Attribute(attr="getenv"), [name, *_])
            ):
                match name:
                    case ast.Constant(value):
                        found.add(value)
                    case ast.Name(each) if each in constants:
                        found.add(constants[each])
                    case _:
                        found.add("?")
    mentions = sum(
        isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
        for node in tree(text)
    )
    return found if mentions <= len(found) else found | {"?"}


def test_the_environment_variables_that_are_read_are_these():
    """A new one is a decision; none of them weakens the guarantee."""
    assert {name for _, text in modules() for name in variables(text)} == ENVIRONMENT
    assert variables("import os\nos.environ.get('A')\nos.environ['B']\nos.getenv('C')") == set(
        "ABC"
    )
    assert variables("import os\nos.environ[name()]") == {"?"}
