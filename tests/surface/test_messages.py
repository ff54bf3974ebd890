"""No control flow reads the text of a message: an error says apart what it is about.

What is looked for in the syntax tree: the text of a caught error (`str(error)`, an f-string of it,
its `args` or its `sentence`), and whatever is called a message, compared, searched or taken apart.
Ours alone: YAML's and sqlglot's parsers say in words only what they found, and `release/spec/read`
and `tables/syntax` translate these words for people.
"""

import ast

import pytest

from tests.surface.test_source import modules

READS = {
    *("partition", "rpartition", "split", "rsplit", "splitlines", "removeprefix", "removesuffix"),
    *("startswith", "endswith", "find", "rfind", "index", "count"),
    *("search", "match", "fullmatch", "findall", "finditer"),
}
MAY_DECIDE = (ast.Assign, ast.NamedExpr, ast.Call, ast.Compare, ast.Match)
"""The kinds of nodes that pass a text on or decide by it."""
LAYS_OUT = {"errors.py": ["shortened", "continued"], "cli/command.py": ["unprefixed"]}
"""Functions that take a message apart to show it, and decide nothing by what it says."""


def is_text(node, errors, names):
    """Tell whether an expression is, or holds, the text of an error."""
    match node:
        case ast.Call(ast.Name("str" | "repr"), [ast.Name(name)]):
            return name in errors
        case ast.Attribute(ast.Name(name), "args" | "sentence") if name in errors:
            return True
        case ast.Attribute(_, "message" | "sentence"):
            return True
        case ast.Name(name):
            return name in names or name == "message"
        case ast.FormattedValue(ast.Name(name)):
            return name in errors
        case ast.JoinedStr(values):
            return any(is_text(each, errors, names) for each in values)
        case ast.Subscript(value) | ast.Attribute(value):
            return is_text(value, errors, names)
        case ast.Call(function, _):
            return isinstance(function, ast.Attribute) and is_text(function.value, errors, names)
    return False


def decided(text, without=()):
    """Return the lines on which a module decides by the text of a message."""
    tree, found = ast.parse(text), set()
    tree.body = [each for each in tree.body if getattr(each, "name", None) not in without]
    every = list(ast.walk(tree))
    errors = {each.name for each in every if isinstance(each, ast.ExceptHandler) and each.name}
    functions = {
        each.name: [parameter.arg for parameter in each.args.args]
        for each in every
        if isinstance(each, ast.FunctionDef)
    }
    nodes = [each for each in every if isinstance(each, MAY_DECIDE)]
    names = set()
    for _ in range(3):  # what a text is given to, and what that is given to
        for node in nodes:
            match node:
                case ast.Assign([ast.Name(name)], value) if is_text(value, errors, names):
                    names.add(name)
                case ast.NamedExpr(ast.Name(name), value) if is_text(value, errors, names):
                    names.add(name)
                case ast.Call(ast.Name(function), given) if function in functions:
                    for parameter, value in zip(functions[function], given, strict=False):
                        if is_text(value, errors, names):
                            names.add(parameter)
    for node in nodes:
        match node:
            case ast.Compare(left, operators, others):
                # Whether there is a message at all may be asked.
                sides = [] if isinstance(operators[0], ast.Is | ast.IsNot) else [left, *others]
                if any(is_text(side, errors, names) for side in sides):
                    found.add(node.lineno)
            case ast.Call(ast.Attribute(value, method), given) if method in READS:
                if any(is_text(each, errors, names) for each in (value, *given)):
                    found.add(node.lineno)
            case ast.Match(subject) if is_text(subject, errors, names):
                found.add(node.lineno)
    return sorted(found)


def test_nothing_is_decided_by_the_text_of_a_message():
    """Neither where an error belongs, nor whether it is one."""
    found = {str(path): decided(text, LAYS_OUT.get(str(path), ())) for path, text in modules()}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "broken",
    [
        "if 'keys' in str(error): raise",
        "option = str(error).partition(' ')[0]",
        "place = find(str(error), query)",
        "shown = f'{error}'\n    if shown == known: pass",
        "is_same = error.args[0] == message",
        "if error.sentence.startswith('rho'): raise",
        "found = re.search('line (.*),', str(error))",
        "match str(error):\n        case 'no': pass",
    ],
)
def test_the_search_finds_each_way_to_decide_by_a_text(broken):
    """Its broken twins: what stood in the code once, and what might."""
    module = f"""
def find(message, query):
    return ("keys",) if "keys" in message else ("group_by",)

try:
    check()
except InputError as error:
    {broken}
"""
    clean = module.replace('"keys" in message', "query.has_keys")
    assert decided(module) != []
    assert broken.startswith("place") or decided(clean) != []


def test_the_search_lets_a_text_be_shown():
    """A message may be shown, quoted in another, and passed on."""
    assert (
        decided(
            """
try:
    check()
except InputError as error:
    problems.add((*path, *error.about), str(error), error.line)
    if error.about == ("rho",):
        raise refuse(place, f"{where}: {error}") from None
"""
        )
        == []
    )
