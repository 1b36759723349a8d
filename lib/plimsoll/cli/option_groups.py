"""Option groups: dataclasses whose fields are options, so that several commands share one list of them."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, fields
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

from typer.models import OptionInfo

GroupOptions = TypeVar("GroupOptions", bound="OptionGroup")


class OptionGroup:
    """Base of a frozen dataclass whose fields are options, or groups again. Help shows them under `PANEL`, where there
    is one, else with the command's own."""

    __slots__ = ()
    PANEL: ClassVar[str | None] = None

    def used_flags(self) -> list[str]:
        """The options of this group that have a value, as people write them."""
        return [_flag(name, kind) for name, kind in _hints(type(self)).items() if getattr(self, name)]


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it: a parameter that is an option group becomes the options of that group."""
    parameters = inspect.signature(command, eval_str=True).parameters
    options = [option for parameter in parameters.values() for option in _options_of(parameter)]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        command(**{name: _value(name, parameter.annotation, values) for name, parameter in parameters.items()})

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]  # what typer reads options from
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options_of(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    if _is_group(parameter.annotation):
        yield from _options_in(parameter.annotation)
    else:
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _options_in(group: type[OptionGroup]) -> Iterator[inspect.Parameter]:
    hints = _hints(group)
    for field in fields(group):  # type: ignore[arg-type]  # every group is a dataclass
        kind = hints[field.name]
        if _is_group(kind):
            yield from _options_in(kind)
            continue
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_panel_option(kind, group.PANEL)
        )


def _value(name: str, kind: Any, values: Mapping[str, Any]) -> Any:
    return _fill(kind, values) if _is_group(kind) else values[name]


def _fill(group: type[GroupOptions], values: Mapping[str, Any]) -> GroupOptions:
    return group(**{name: _value(name, kind, values) for name, kind in _hints(group).items()})


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, OptionGroup)


def _hints(group: type[OptionGroup]) -> dict[str, Any]:
    hints = get_type_hints(group, include_extras=True)
    return {field.name: hints[field.name] for field in fields(group)}  # type: ignore[arg-type]  # as above


def _panel_option(kind: Any, panel: str | None) -> Any:
    plain, option = get_args(kind)
    in_panel = copy(option)
    in_panel.rich_help_panel = panel
    return Annotated[plain, in_panel]


def _flag(name: str, kind: Any) -> str:
    option = next((argument for argument in get_args(kind) if isinstance(argument, OptionInfo)), None)
    written = option.default if option is not None else None
    return written if isinstance(written, str) else f"--{name.replace('_', '-')}"
