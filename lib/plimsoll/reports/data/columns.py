"""Columns: how the fields of a record are typed in a database, so that a run without a volume has the same ones."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

_SCALARS: Final[Mapping[object, str]] = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


def column_types(model: type[BaseModel]) -> dict[str, str]:
    """The DuckDB type of each field of a model, by name; TypeError for a field that no column can hold."""
    return {name: _type(field.annotation) for name, field in model.model_fields.items()}


def quoted(name: str) -> str:
    """A name as SQL takes it whatever it is."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it whatever it is."""
    return "'" + text.replace("'", "''") + "'"


def _type(annotation: Any) -> str:
    found = _without_none(annotation)
    if found in _SCALARS:
        return _SCALARS[found]
    origin, arguments = get_origin(found), get_args(found)
    if origin is list:
        return f"{_type(arguments[0])}[]"
    if origin is dict:
        return f"MAP({_type(arguments[0])}, {_type(arguments[1])})"
    if origin is Literal and all(isinstance(word, str) for word in arguments):
        return _SCALARS[str]
    if isinstance(found, type) and issubclass(found, BaseModel):
        fields = (f"{quoted(name)} {kind}" for name, kind in column_types(found).items())
        return f"STRUCT({', '.join(fields)})"
    raise TypeError(f"no column can hold {annotation}")


def _without_none(annotation: Any) -> Any:
    """What may be null has the type that it has otherwise: every column may be null."""
    if get_origin(annotation) not in {Union, UnionType}:
        return annotation
    others = [one for one in get_args(annotation) if one is not NoneType]
    return others[0] if len(others) == 1 else annotation
