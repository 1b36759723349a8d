"""`make settings`: every setting of the deployed service, with its default and what it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from infra.settings import PREFIX, Deployment
from plimsoll.service.config import ServiceConfig, ValidationBudget
from plimsoll.service.slack_config import SlackConfig

_WITHIN: Final[dict[str, type[BaseModel]]] = {"validation": ValidationBudget, "slack": SlackConfig}
"""Settings that hold others, each by a name of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A setting: its name in CDK's context, its default as it is written ("": none), and a sentence."""

    name: str
    default: str
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.replace(".", "__").upper()


def listed() -> Iterator[Listed]:
    """What is audited and measured, and then what is deployed."""
    own = [name for name in Deployment.model_fields if name not in ServiceConfig.model_fields]
    yield from _of(ServiceConfig, list(ServiceConfig.model_fields))
    yield from _of(Deployment, own)


def _of(model: type[BaseModel], names: list[str], prefix: str = "") -> Iterator[Listed]:
    for name in names:
        field = model.model_fields[name]
        if name in _WITHIN:
            yield from _of(_WITHIN[name], list(_WITHIN[name].model_fields), f"{name}.")
        else:
            default = _written(field.get_default(call_default_factory=True))
            yield Listed(name=f"{prefix}{name}", default=default, meaning=field.description or "")


def _written(default: Any) -> str:
    if default in (None, (), {}, PydanticUndefined):
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def main() -> None:
    """Prints them."""
    for one in listed():
        print(f"{one.variable}{'=' if one.default else ''}{one.default}\n    {one.meaning}")  # noqa: T201  # its output


if __name__ == "__main__":
    main()
