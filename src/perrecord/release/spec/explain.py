"""Pydantic's errors in our words: what was found, what was expected, what is close."""

from collections.abc import Mapping
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
        return path, _unknown(str(path[-1]), value, _model_at(model, path[:-1]))
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


def _unknown(key: str, value: object, model: type[BaseModel] | None) -> str:
    known = [] if model is None else _keys(model)
    if value is None and key.isdigit():
        return (
            f"no key {key!r} here. Inside {{...}} a comma ends a value: put a value with a comma "
            'in quotes, such as "$1,000".'
        )
    return f"no key {key!r} here. Keys are {listing(known, limit=30)}.{suggestion(key, known)}"


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
