"""Pydantic's errors in our words: what was found, what was expected, what is close."""

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from perrecord.errors import listing, suggestion
from perrecord.release.spec.entry import descriptions
from perrecord.release.spec.problems import Path, found

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "model_type": "a mapping of key: value",
    "model_attributes_type": "a mapping of key: value",
    "dict_type": "a mapping of key: value",
    "mapping_type": "a mapping of key: value",
    "tuple_type": "a list",
    "list_type": "a list",
}

_MOST_PLACES = 3


def is_echo(error: ErrorDetails) -> bool:
    """Tell whether a list is called too short only because items of it are wrong."""
    least = error.get("ctx", {}).get("min_length")
    return error["type"] == "too_short" and len(error["input"]) >= (least or 0)


def explained(error: ErrorDetails, model: type[BaseModel]) -> tuple[Path, str]:
    """Return the path of an error of pydantic's and our message for it."""
    path, kind, value = error["loc"], error["type"], error["input"]
    context = error.get("ctx", {})
    if kind == "missing":
        return path[:-1], f"{path[-1]!r} is missing. {_described(model, path)}"
    if kind == "extra_forbidden":
        return path, _unknown(str(path[-1]), value, _model_at(model, path[:-1]), model)
    if kind == "value_error":
        return path, str(context["error"])
    if kind == "literal_error":
        return path, f"expected {context['expected']}, found {found(value)}."
    if kind in ("too_short", "string_too_short"):
        size = len(value)
        least = context["min_length"]
        number = f"found {size}, needed at least {least}" if size else "there is nothing here"
        return path, f"{number}. {_described(model, path)}"
    if kind == "string_pattern_mismatch":
        return path, (
            f"expected a name of letters, digits, _ and -, found {found(value)}; text for readers "
            "goes into title."
        )
    if kind == "string_too_long":
        return path, (
            f"expected at most {context['max_length']} characters, found {len(value)}; text for "
            "readers goes into title."
        )
    if kind in ("greater_than_equal", "less_than_equal"):
        limit = context.get("ge", context.get("le"))
        word = "at least" if "ge" in context else "at most"
        return path, f"expected a whole number of {word} {limit}, found {found(value)}."
    if kind in _EXPECTED:
        is_plain = kind == "string_type" and isinstance(value, int)
        hint = "; put text in quotes" if is_plain else ""
        return path, f"expected {_EXPECTED[kind]}, found {found(value)}{hint}."
    return path, f"{error['msg'][:1].lower()}{error['msg'][1:]}, found {found(value)}."


def _unknown(key: str, value: object, model: type[BaseModel] | None, root: type[BaseModel]) -> str:
    known = [] if model is None else _keys(model)
    if value is None and key.isdigit():
        return (
            f"no key {key!r} here. Inside {{...}} a comma ends a value: write a number with a "
            'decimal point, such as 0.2, and put text with a comma in quotes, such as "$1,000".'
        )
    here = f"no key {key!r} here. Keys are {listing(known, limit=30)}."
    return f"{here}{_elsewhere(key, root) or suggestion(key, known)}"


def _elsewhere(key: str, root: type[BaseModel]) -> str:
    """Return where in a spec a key belongs that is not one here; "" if nowhere."""
    every = sorted({path for path, model in _sections(root) if key in _keys(model)}, key=len)
    places = [f"under {'.'.join(path)}" if path else "at the top of the spec" for path in every]
    if not places:
        return ""
    others = " or elsewhere" if len(places) > _MOST_PLACES else ""
    return f" It belongs {' or '.join(places[:_MOST_PLACES])}{others}."


@cache
def _sections(root: type[BaseModel]) -> tuple[tuple[tuple[str, ...], type[BaseModel]], ...]:
    """Return every mapping of a spec whose keys are fixed, with the keys that lead to it.

    Names that an author chooses, and places in lists, are left out. A mapping inside one of its own
    kind, as a split by cases, is where the outer one is.
    """
    found: list[tuple[tuple[str, ...], type[BaseModel]]] = []

    def walk(kind: Any, path: tuple[str, ...], outside: tuple[type[BaseModel], ...]) -> None:
        kind = _bare(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if kind in outside:
                return
            found.append((path, kind))
            for name, field in kind.model_fields.items():
                walk(field.annotation, (*path, field.alias or name), (*outside, kind))
        elif get_origin(kind) in (Mapping, dict, tuple):
            walk(_inside(kind, 0), path, outside)

    walk(root, (), ())
    return tuple(found)


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _described(model: type[BaseModel], path: Path) -> str:
    """Return what a field is for, in the words of its own description."""
    inside = _model_at(model, path[:-1])
    for name, field in (inside.model_fields if inside else {}).items():
        if inside and path[-1] in (name, field.alias):
            said = descriptions(inside)[name]
            return f"Expected: {said[:1].lower()}{said[1:]}"
    return "Expected at least one."


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """Return the model of the mapping at a path of the written-out spec."""
    here: Any = model
    for step in path:
        here = _inside(here, step)
    here = _bare(here)
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def _inside(kind: Any, step: str | int) -> Any:
    kind = _bare(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {field.alias or name: field for name, field in kind.model_fields.items()}
        return fields[str(step)].annotation if step in fields else None
    if get_origin(kind) in (Mapping, dict):
        return get_args(kind)[1]
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def _bare(kind: Any) -> Any:
    """Return a type without what pydantic was told about it, and without None."""
    while True:
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        elif get_origin(kind) in (Union, UnionType):
            kind = next(each for each in get_args(kind) if each is not NoneType)
        else:
            return kind
