"""The distribution: the name that Plimsoll is installed by, its version, and its extras.

`plimsoll` on the public Python index is a package of others. Nothing that people read asks an index for either name. An
extra brings what an audit of AWS can do without. Its modules are imported only where they are used, and where one is
missing the command line names the extra.
"""

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from importlib.util import find_spec
from typing import Final

from plimsoll.model.errors import BadInput

NAME: Final = "plimsoll-storage"
"""As in pyproject.toml. The command and the import are `plimsoll`."""


def own_version() -> str:
    """The version that is installed."""
    return distribution(NAME).version


def extra_requirements(extra: str) -> Sequence[str]:
    """The requirements of an extra in the installed metadata, for example `duckdb>=1.4`."""
    marked = re.compile(rf"\s*;\s*extra == ['\"]{re.escape(extra)}['\"]$")
    requires = distribution(NAME).requires or ()
    return [marked.sub("", requirement) for requirement in requires if marked.search(requirement)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """An extra: its name in pyproject.toml, what people call what it brings, and the packages that are imported."""

    name: str
    brings: str
    packages: tuple[str, ...]

    @property
    def is_installed(self) -> bool:
        """True if all of it can be imported."""
        return not self._missing

    def need(self) -> None:
        """ModuleNotFoundError where it is missing, for what another process imports."""
        for package in self._missing:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    @property
    def _missing(self) -> list[str]:
        return [package for package in self.packages if find_spec(package) is None]


SQL: Final = Extra(name="sql", brings="DuckDB", packages=("duckdb",))
GOOGLE_EXTRA: Final = Extra(
    name="google", brings="Google Cloud's libraries", packages=("google", "grpc", "requests", "proto")
)
DEMO: Final = Extra(name="demo", brings="the simulator's libraries", packages=("moto", "flask", "werkzeug"))
CHARTS: Final = Extra(name="charts", brings="Altair and vl-convert", packages=("altair", "vl_convert"))
SERVE: Final = Extra(name="serve", brings="Starlette and uvicorn", packages=("starlette", "uvicorn"))
MCP: Final = Extra(name="mcp", brings="the MCP SDK", packages=("mcp", "mcp_types"))
TERRAFORM: Final = Extra(
    name="terraform", brings="a parser of Terraform's language", packages=("tree_sitter", "tree_sitter_hcl")
)
EXTRAS: Final = (
    SQL,
    GOOGLE_EXTRA,
    DEMO,
    CHARTS,
    SERVE,
    MCP,
    TERRAFORM,
    Extra(name="slack", brings="Slack's libraries", packages=("slack_sdk",)),
)


class MissingExtra(BadInput):
    """A missing extra that a command needs; the sentence says how to install it."""


def missing_extra(error: ModuleNotFoundError, command: str) -> MissingExtra:
    """The extra that would bring a module, as an error of the command that wanted it; the error itself for a module
    that no extra brings."""
    package = (error.name or "").partition(".")[0]
    for extra in EXTRAS:
        if package in extra.packages:
            return MissingExtra(f"{command} needs {extra.brings}. {install_hint(extra)}")
    raise error


def install_hint(extra: Extra) -> str:
    """The instruction to install an extra, as the command that does it where this Python is."""
    return f"Install the extra {extra.name}: {shlex.join(install_words(extra))}"


def install_words(extra: Extra) -> list[str]:
    """The command that installs an extra into the environment of this Python, which uv makes without pip.

    An index is asked for what the extra requires, never for Plimsoll.
    """
    installer = ["uv", "pip", "install", "--python", sys.executable]
    if find_spec("pip") is not None:
        installer = [sys.executable, "-m", "pip", "install"]
    return [*installer, *extra_requirements(extra.name)]
