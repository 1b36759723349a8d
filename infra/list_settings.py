"""`make settings`: every setting of the deployed service, with its default and what it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from infra.settings import PREFIX, Deployment, Network
from plimsoll_service.config import ServiceConfig, ValidationBudget
from plimsoll_service.slack_config import SlackConfig

_WITHIN: Final[dict[str, type[BaseModel]]] = {
    "validation": ValidationBudget,
    "slack": SlackConfig,
    "network": Network,
}
"""Settings that hold others, each by a name of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSetting:
    """A setting: its name in CDK's context, its default as it is written ("": none), and a sentence."""

    name: str
    default: str
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.replace(".", "__").upper()


def list_settings() -> Iterator[ListedSetting]:
    """The settings of audits and measurements, followed by those for the deployment."""
    names = [name for name in Deployment.model_fields if name not in ServiceConfig.model_fields]
    yield from _of(ServiceConfig, list(ServiceConfig.model_fields))
    yield from _of(Deployment, names)


def _of(model: type[BaseModel], names: list[str], prefix: str = "") -> Iterator[ListedSetting]:
    for name in names:
        field = model.model_fields[name]
        if name in _WITHIN:
            yield from _of(_WITHIN[name], list(_WITHIN[name].model_fields), f"{name}.")
        else:
            default = _default_text(field.get_default(call_default_factory=True))
            yield ListedSetting(name=f"{prefix}{name}", default=default, meaning=field.description or "")


def _default_text(default: Any) -> str:
    if default in (None, (), {}, PydanticUndefined):
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def main() -> None:
    """Prints the settings."""
    for setting in list_settings():
        print(f"{setting.variable}{'=' if setting.default else ''}{setting.default}\n    {setting.meaning}")  # noqa: T201  # its output


if __name__ == "__main__":
    main()
