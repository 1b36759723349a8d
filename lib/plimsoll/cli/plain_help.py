"""Help in the reader's words: what an option takes is PATH, N or TEXT, and a switch takes nothing."""

import re
from collections.abc import Callable
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

_TYPE: Final = re.compile(r"<(?:list\[)?(\w+)")
_TAKES: Final = {"bool": "", "str": "TEXT", "int": "N", "float": "N", "path": "PATH"}
"""What stands in help behind an option that names nothing better, by the type that typer would show."""


def _plain(parameters: list[Any], ctx: Any) -> list[Any]:
    """The same parameters. An option that names nothing better says what it takes; an argument shows its name alone."""
    for one in parameters:
        # Earlier versions of typer show no types of Python, and have no such methods.
        shown = _TYPE.match(getattr(one, "display_type", _nothing)(ctx) or "")
        if one.param_type_name == "argument":
            one.display_type_rich = _nothing
            one.metavar = one.metavar or one.name.upper()
        elif one.metavar is None and shown is not None:
            one.metavar = _TAKES.get(shown[1].lower())
    return parameters


def _nothing(ctx: Any) -> None:  # noqa: ARG001  # as typer calls it
    return None


class _PlainCommand(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx), ctx)


class _PlainGroup(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx), ctx)


class PlainTyper(typer.Typer):
    """A Typer whose help names no types of Python."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=_PlainGroup, no_args_is_help=True, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """As of Typer."""
        return super().command(name, **{"cls": _PlainCommand, **options})
