"""One word for one thing: no class has the name of another, and no type of the library has."""

import ast
from collections import defaultdict
from pathlib import Path

from tests.surface.test_source import tree

SOURCE = Path(__file__).parent.parent.parent / "src" / "perrecord"

TWICE: dict[str, str] = {}
"""Names that are a class and a type as well, and why that is no trouble."""

APART = ("cli", "lab")
"""Options of commands are types named as people type them; the laboratory's are each its own."""


def classes(text):
    """Return the names of the classes that others may use."""
    found = [node.name for node in tree(text) if isinstance(node, ast.ClassDef)]
    return [name for name in found if not name.startswith("_")]


def types(text):
    """Return the names that a module gives to types; variables of types are none."""
    found = []
    for node in tree(text)[0].body:
        match node:
            case ast.Assign([ast.Name(_)], ast.Call(ast.Name("TypeVar"))):
                continue
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                if name[0].isupper() and not name.isupper():
                    found.append(name)
    return found


def places(names_of, modules):
    """Return where each name is defined."""
    found = defaultdict(list)
    for path, text in modules.items():
        for name in names_of(text):
            found[name].append(path)
    return found


def several(modules):
    """Return the names of classes that are defined more than once, and where."""
    return {name: at for name, at in places(classes, modules).items() if len(at) > 1}


def shared(modules):
    """Return the names of types that are those of classes as well, and where both are."""
    known = places(classes, modules)
    named = {path: text for path, text in modules.items() if path.parts[0] not in APART}
    return {name: [*known[name], *at] for name, at in places(types, named).items() if name in known}


def ours():
    """Return the text of every module, by its path from the package."""
    every = sorted(SOURCE.rglob("*.py"))
    return {path.relative_to(SOURCE): path.read_text("utf-8") for path in every}


def test_no_class_has_the_name_of_another(record_property):
    """Who reads `Charge` somewhere knows which one is meant."""
    modules = ours()
    assert several(modules) == {}
    record_property("classes", len(places(classes, modules)))


def test_no_type_has_the_name_of_a_class():
    """Nor does a union or an array go by the name of a class, those that are named above apart."""
    assert sorted(shared(ours())) == sorted(TWICE)


def test_a_name_that_is_taken_is_noticed():
    """Both as a class and as a type; private names and variables of types may be the same."""
    one, other = Path("queries/cells.py"), Path("release/spec/pieces.py")
    cells = "class Cells:\n    pass\n\nclass _Reader:\n    pass\n"
    assert several({one: cells, other: cells}) == {"Cells": [one, other]}
    named = 'Cells = int | str\nCELLS = 3\nMade = TypeVar("Made")\n'
    assert shared({one: cells + "class Made:\n    pass\n", other: named}) == {"Cells": [one, other]}
    assert shared({one: cells, Path("cli/synth.py"): named}) == {}
