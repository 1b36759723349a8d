"""The distribution: the name that Plimsoll is installed by, its version, and what its extras require.

`plimsoll` on the public Python index is a package of others. Nothing that people read asks an index for either name.
"""

import re
from collections.abc import Sequence
from importlib.metadata import distribution
from typing import Final

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
