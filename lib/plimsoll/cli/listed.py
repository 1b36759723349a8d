"""Commands that are listed by name and built when one is called: the program's own help imports none of them."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import copy
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand

from plimsoll.cli.plain_help import PlainGroup, PlainTyper


class Listed(NamedTuple):
    """A command, or a group of them: the panel of help that it is shown in, its module and name under
    `plimsoll.cli.commands`, and the first sentence of its help."""

    panel: str
    home: str
    summary: str


def commands_of(panels: Mapping[str, Mapping[str, str]]) -> dict[str, Listed]:
    """The commands of some panels by name, which is that of the function or group without `_command`."""
    return {
        home.partition(":")[2].replace("_", "-"): Listed(panel, home, summary)
        for panel, homes in panels.items()
        for home, summary in homes.items()
    }


class Commands(MutableMapping[str, Any]):
    """Commands by name, those that are only listed first; each is built when it is looked up."""

    def __init__(self, listed: Mapping[str, Listed], built: Mapping[str, Any]) -> None:
        self._listed, self._build = listed, dict(built)

    def __getitem__(self, name: str) -> Any:
        if name not in self._build:
            self._build[name] = _build(name, self._listed[name])
        return self._build[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._build[name] = command

    def __delitem__(self, name: str) -> None:
        del self._build[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._listed, *self._build]))

    def __len__(self) -> int:
        return len({*self._listed, *self._build})


class ListedGroup(PlainGroup):
    """A group with the commands that `listed` names, besides those that it is given."""

    listed: ClassVar[Mapping[str, Listed]] = {}

    def __init__(self, *, commands: dict[str, Any], **options: Any) -> None:
        super().__init__(commands=commands, **options)
        self.commands = Commands(self.listed, commands)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # as typer calls it
        """The names of all, without building any."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Help that shows of each listed command what is known without building it."""
        shown = {
            name: TyperCommand(name=name, help=command.summary, rich_help_panel=command.panel)
            for name, command in self.listed.items()
        }
        alike = copy(self)
        alike.commands = {name: shown.get(name) or self.commands[name] for name in self.commands}
        super(ListedGroup, alike).format_help(ctx, formatter)


def _build(name: str, listed: Listed) -> Any:
    module, _, inside = listed.home.partition(":")
    target: Callable[..., Any] | typer.Typer = getattr(
        import_module(f"plimsoll.cli.commands.{module}"), f"{inside}_command"
    )
    if isinstance(target, typer.Typer):
        group = typer.main.get_group(target)
        group.name = name
        return group
    alone = PlainTyper(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name)(target)
    return typer.main.get_command(alone)
