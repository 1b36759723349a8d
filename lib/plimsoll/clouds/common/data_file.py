"""The data files that ship with a cloud's package."""

from importlib.resources import files
from typing import Any, Final

import yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where it is installed: without it, reading the prices takes half a second."""


def read_data(package: str, name: str) -> Any:
    """The content of a YAML file in a package's data/, as plain values."""
    written = (files(package) / "data" / name).read_text(encoding="utf-8")
    return yaml.load(written, _LOADER)  # noqa: S506  # a safe loader, and a file of our own
