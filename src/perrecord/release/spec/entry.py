"""A mapping of a spec as a value, and what its entries are for."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

DECIDING = "what decides the numbers"
"""The context in which a spec is written down without what is only shown."""


@dataclass(frozen=True, slots=True)
class OnlyShown:
    """Marks an entry that decides how numbers are shown, and never what they are."""


SHOWN = OnlyShown()


class Entry(BaseModel):
    """A mapping of a spec: unknown keys are refused, and what was read stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)

    @model_serializer(mode="wrap")
    def _written(
        self, write: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        values: dict[str, Any] = write(self)
        if info.context == DECIDING:
            for name, each in type(self).model_fields.items():
                if SHOWN in each.metadata:
                    values.pop(name, None)
        return values

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema with what each entry is for, which editors show."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for name, said in descriptions(cls).items():
            properties[cls.model_fields[name].alias or name]["description"] = said
        return schema


@cache
def descriptions(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the strings beneath the entries of a mapping, as they stand in the code.

    They are read when they are asked for. pydantic would read them whenever a class is made, which
    takes a seventh of the time in which a command starts.
    """
    said: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, Entry) and each is not Entry:
            said.update(_beneath(ast.parse(textwrap.dedent(inspect.getsource(each)))))
    return said


def _beneath(code: ast.Module) -> dict[str, str]:
    lines = [line for each in code.body if isinstance(each, ast.ClassDef) for line in each.body]
    return {
        entry.target.id: inspect.cleandoc(text.value.value)
        for entry, text in pairwise(lines)
        if isinstance(entry, ast.AnnAssign)
        and isinstance(entry.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
