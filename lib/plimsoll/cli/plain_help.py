"""Help in the reader's words: what an option takes is PATH, N or TEXT, and a switch takes nothing."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from plimsoll.cli.option_groups import with_option_groups

_TYPE: Final = re.compile(r"<(?:list\[)?(\w+)")
_TAKES: Final = {"bool": "", "str": "TEXT", "int": "N", "float": "N", "path": "PATH"}
"""What stands in help behind an option that names nothing better, by the type that typer would show."""


def _plain(parameters: list[Any], ctx: Any) -> list[Any]:
    """The same parameters. An option that names nothing better says what it takes; an argument shows its name alone."""
    for parameter in parameters:
        # Earlier versions of typer show no types of Python, and have no such methods.
        shown = _TYPE.match(getattr(parameter, "display_type", _nothing)(ctx) or "")
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = _nothing
            parameter.metavar = parameter.metavar or parameter.name.upper()
        elif parameter.metavar is None and shown is not None:
            parameter.metavar = _TAKES.get(shown[1].lower())
    return parameters


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Has what typer says of a wrong value begin as a sentence of ours does."""
    try:
        yield
    except typer.BadParameter as error:
        sentence = error.message.removeprefix("Value error, ")
        error.message = re.sub(r"^Input should be", "it must be", sentence)
        raise


def _plain_piece(piece: str) -> str:
    """An argument in a usage line: without braces, and as it names itself if it says that it can be repeated."""
    named = re.fullmatch(r"[\[{](.*(?:\]|\.\.\.))[\]}]\.\.\.", piece)
    return named[1] if named else piece.replace("{", "").replace("}", "")


def _nothing(ctx: Any) -> None:  # noqa: ARG001  # as typer calls it
    return None


class _PlainCommand(TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [_plain_piece(piece) for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _plain_errors():
            return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx), ctx)


class PlainGroup(TyperGroup):
    """A group whose options say what they take in the reader's words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Does as Typer."""
        return _plain(super().get_params(ctx), ctx)


class PlainTyper(typer.Typer):
    """A Typer whose help names no types of Python, and whose commands may take option groups."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"cls": PlainGroup, "no_args_is_help": True, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Does as Typer."""
        add = super().command(name, **{"cls": _PlainCommand, **options})

        def add_command(command: Callable[..., None]) -> Callable[..., None]:
            add(with_option_groups(command))
            return command

        return add_command
