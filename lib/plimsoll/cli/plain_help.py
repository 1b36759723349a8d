"""Help in the reader's words: what an option takes is PATH, N or TEXT, and a switch takes nothing."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from textwrap import fill, indent
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from plimsoll.cli.option_groups import with_option_groups

_TYPE: Final = re.compile(r"<(?:list\[)?(\w+)")
_TAKES: Final = {"bool": "", "str": "TEXT", "int": "N", "float": "N", "path": "PATH"}
"""What stands in help behind an option that names nothing better, by the type that typer would show."""


ALL_HELP: Final = "--help-all"
"""The option that shows a help whole, where `--help` shows what most need and names the rest."""

MOST_SHOWN: Final = 12
"""The most options that help shows unasked."""

SHOWN_FIRST: Final = frozenset(
    (
        *("cloud", "region", "profile", "organization", "project", "policy", "out", "plan", "validate", "fail_over"),
        *("mode", "type_", "size_gib", "run", "every"),
    )
)
"""The options of groups that a folded help shows. A command's own options, in no group, are shown always."""

LISTS: Final = frozenset(
    (
        *("cloud", "region", "profile", "account", "unit", "project", "folder", "google_organization"),
        *("bench_host", "role_arn"),
    )
)
"""The repeatable options whose values may stand in one word: only a role's name may have commas of its own."""

_BETWEEN: Final = re.compile(r",(?=\s*arn:)")
"""What is between two roles."""


def split_lists(words: list[str], parameters: list[Any]) -> list[str]:
    """The words with `--region a,b` written as `--region a --region b`."""
    flags = {flag for parameter in parameters if parameter.name in LISTS for flag in parameter.opts}
    split, waiting = list[str](), list(words)
    while waiting and waiting[0] != "--":
        flag, equals, value = waiting.pop(0).partition("=")
        if flag not in flags or not (equals or waiting):
            split.append(f"{flag}{equals}{value}")
            continue
        value = value if equals else waiting.pop(0)
        parts = _BETWEEN.split(value) if value.lstrip().startswith("arn:") else value.split(",")
        values = [part.strip() for part in parts if part.strip()] or [""]
        split += [word for part in values for word in (flag, part)]
    return split + waiting


def _asks_all_help(ctx: Any, words: list[str]) -> bool:
    """True if the words ask for all of the help, which the context is told of."""
    if ALL_HELP not in words[: words.index("--") if "--" in words else None]:
        return False
    ctx.meta[ALL_HELP] = True
    return True


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
        words = ["--help"] if _asks_all_help(ctx, args) else split_lists(args, self.params)
        with _plain_errors():
            return super().parse_args(ctx, words)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Help with the options that most need, if there are many: the others are named by group."""
        options = [option for option in self.params if not getattr(option, "hidden", False)]
        if len(options) <= MOST_SHOWN or ctx.meta.get(ALL_HELP):
            super().format_help(ctx, formatter)
            return
        alike, folded = copy(self), dict[str, list[str]]()
        alike.params = []
        for option in map(copy, options):
            panel = getattr(option, "rich_help_panel", None)
            if panel is not None and option.name not in SHOWN_FIRST:
                folded.setdefault(panel, []).append(option.opts[0])
                continue
            option.rich_help_panel = None  # type: ignore[attr-defined]  # few need no groups
            alike.params.append(option)
        super(_PlainCommand, alike).format_help(ctx, formatter)
        named = [f"{panel}: {', '.join(flags)}" for panel, flags in folded.items()]
        write_lines_below(formatter, [f"More, described by `{ctx.command_path} {ALL_HELP}`:", *named])

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx), ctx)


def write_lines_below(formatter: Any, lines: Iterable[str]) -> None:
    """Adds lines to the end of a help, as wide as it is."""
    for line in lines:
        shown = line
        if len(line) > formatter.width:
            shown = fill(line, formatter.width - 1, subsequent_indent="  ", break_on_hyphens=False)
        formatter.write(indent(shown, " ") + "\n")


class PlainGroup(TyperGroup):
    """A group whose options say what they take in the reader's words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Does as Typer; shows all of its own help where it is asked for."""
        return super().parse_args(ctx, ["--help"] if args[:1] == [ALL_HELP] and _asks_all_help(ctx, args) else args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Does as Typer."""
        return _plain(super().get_params(ctx), ctx)


class PlainTyper(typer.Typer):
    """A Typer whose help names no types of Python, and whose commands may take option groups."""

    def __init__(self, **options: Any) -> None:
        context = {"help_option_names": ["--help", "-h"]}
        super().__init__(**{"cls": PlainGroup, "no_args_is_help": True, "context_settings": context, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Does as Typer."""
        add = super().command(name, **{"cls": _PlainCommand, **options})

        def add_command(command: Callable[..., None]) -> Callable[..., None]:
            add(with_option_groups(command))
            return command

        return add_command
