"""Wings: packages beside this one, in the same wheel, whose names are text here and which nothing here imports.

A wing is found by its row: a cloud's package by the row of `plimsoll.clouds.registry`, a command by its file in the
folder `cli` of a wing. An audit of AWS, and every report of it, imports none.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

WINGS: Final = (
    "plimsoll_backtest",
    "plimsoll_bill",
    "plimsoll_change",
    "plimsoll_google",
    "plimsoll_measure",
    "plimsoll_service",
)

RUN_VALIDATION: Final = "plimsoll_measure.cli.run_validation"
"""The module that measures what `audit --validate` recommends."""

DEMO_CHANGES: Final = "plimsoll_change.cli.demo_changes"
"""The module that carries some changes of a demo out."""

SLACK_MESSAGE: Final = "plimsoll_service.cli.slack_message"
"""The module that lays a report out for Slack."""

EVENT_SCHEMAS: Final = "plimsoll_service.events"
"""The module with the events that the service sends."""


def find_folders(inside: str) -> dict[str, Path]:
    """The folders of that name in wings that are installed, by their dotted names; none of them is imported."""
    specs = [spec for wing in WINGS if (spec := find_spec(wing)) is not None and spec.origin is not None]
    folders = {f"{spec.name}.{inside}": Path(str(spec.origin)).parent / inside for spec in specs}
    return {name: folder for name, folder in folders.items() if folder.is_dir()}
