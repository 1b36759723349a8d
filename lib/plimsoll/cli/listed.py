"""Commands as their files list them: the program's own help reads these files, and imports none of them.

A module of this folder, or of a wing's `cli`, is a command, or a group of them, if it has a line such as
`_LISTED: Final = ("Audit", 2)`: the panel of help that shows it, and its place there. Its name is the command's, its
docstring is the command's help, and its `audit_command` is a function whose parameters are the options, or a
`PlainTyper` with the commands of the group. The function imports what carries it out: help and a mistyped option wait
for no clouds, arrays and schemas.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand

from plimsoll.cli.plain_help import ALL_HELP, PlainGroup, PlainTyper, write_lines_below
from plimsoll.wings import find_folders

PANELS: Final = ("Begin with", "Audit", "Read a run", "Measure", "Change", "Look back", "Try it", "Help")
"""The panels of help in their order. Any other comes after them. The program's own help shows the first alone."""

EXAMPLES: Final = (
    "plimsoll demo",
    "plimsoll audit --profile production --region eu-west-1,us-east-1",
    "plimsoll explain ledger-db",
)
"""The examples of the program's help."""

_LISTED_LINE: Final = re.compile(r'^_LISTED: Final = \("(?P<panel>[^"]+)", (?P<place>\d+)\)$', re.MULTILINE)
_SUMMARY: Final = re.compile(r'"""(.+?)(?:"""|\n\n)', re.DOTALL)


class ListedCommand(NamedTuple):
    """A command, or a group of them: its module, the panel of help that shows it, and its help's first paragraph."""

    module: str
    panel: str
    summary: str


def find_commands(folders: Mapping[str, Path] | None = None) -> dict[str, ListedCommand]:
    """The commands by name, as help lists them, of folders by package. Their files are read, not imported.

    None: this folder and those of the wings.
    """
    commands = list[tuple[int, int, str, ListedCommand]]()
    if folders is None:
        folders = {__package__: Path(__file__).parent, **find_folders("cli")}
    for package, path in ((package, path) for package, folder in folders.items() for path in folder.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        line, summary = _LISTED_LINE.search(source), _SUMMARY.match(source)
        if line is not None and summary is not None:
            panel = line["panel"]
            command = ListedCommand(f"{package}.{path.stem}", panel, " ".join(summary[1].split()))
            row = PANELS.index(panel) if panel in PANELS else len(PANELS)
            commands.append((row, int(line["place"]), path.stem.replace("_", "-"), command))
    return {name: command for _, _, name, command in sorted(commands)}


class ListedGroup(PlainGroup):
    """The program: a group of all commands, each built when it is looked up."""

    def __init__(self, *, commands: Mapping[str, Any], **options: Any) -> None:  # noqa: ARG002  # as typer calls it
        super().__init__(**options)
        self._listed = find_commands()
        self.commands = _Commands(self._listed)  # type: ignore[assignment]  # nothing adds commands to a program

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # as typer calls it
        """The names of all, without building any."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Help that shows of each command what is known without building it: the first, and the names of the others."""
        alike, shows_all = copy(self), ctx.meta.get(ALL_HELP, False)
        alike.commands = {
            name: TyperCommand(name=name, help=command.summary, rich_help_panel=command.panel)
            for name, command in self._listed.items()
            if shows_all or command.panel == PANELS[0]
        }
        if not shows_all:
            alike.params = [option for option in self.params if "completion" not in str(option.name)]
            alike.epilog = None
        super(ListedGroup, alike).format_help(ctx, formatter)
        if not shows_all:
            others = ", ".join(name for name in self._listed if name not in alike.commands)
            names = f"More, described by `plimsoll {ALL_HELP}`: {others}"
            write_lines_below(formatter, [names, "", "Examples:", *(f"  {example}" for example in EXAMPLES)])


class _Commands(Mapping[str, Any]):
    """Commands by name. One is built when it is looked up."""

    def __init__(self, listed: Mapping[str, ListedCommand]) -> None:
        self._listed = listed
        self._commands: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self._listed and name not in self._commands:
            self._commands[name] = _build(name, self._listed[name].module)
        return self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


def _build(name: str, module_name: str) -> Any:
    module = import_module(module_name)
    target = getattr(module, f"{name.replace('-', '_')}_command")
    help_text = inspect.cleandoc(module.__doc__ or "")
    if isinstance(target, typer.Typer):
        group = typer.main.get_group(target)
        group.name, group.help = name, help_text
        return group
    alone = PlainTyper(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, help=help_text)(target)
    return typer.main.get_command(alone)
