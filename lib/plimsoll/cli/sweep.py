"""`plimsoll sweep`: scratch volumes past their deadline are deleted."""

from collections.abc import Iterator
from datetime import datetime

import typer
from rich.console import Console

from plimsoll.bootstrap import OpenCloud, Scope, change_ledger, clock, open_clouds, patience_of
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.ports import FailedTarget
from plimsoll.reports.terminal.validation import show_lines
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings
from plimsoll.validation.patience import Patience
from plimsoll.validation.scratch_volume import Swept, sweep


def sweep_scratch(scope: Scope, *, everything: bool) -> None:
    """Deletes the scratch volumes of a scope that are due, or all, and exits as partial where something is left."""
    settings, console = Settings.of_environment(), Console()
    now = clock().now()
    patience = patience_of(settings)
    found = []
    for cloud in open_clouds(scope, settings, today=now.date(), ledger=change_ledger(settings)):
        for one in _swept(cloud, now, patience, everything=everything):
            show_lines(console, [_text(one)])
            found.append(one)
    deleted = sum(isinstance(one, Swept) and one.deleted for one in found)
    console.print(f"{count_of(deleted, 'scratch volume')} deleted")
    if any(isinstance(one, FailedTarget) or one.left is not None for one in found):
        raise typer.Exit(PARTIAL)


def _swept(cloud: OpenCloud, now: datetime, patience: Patience, *, everything: bool) -> Iterator[Swept | FailedTarget]:
    targets, bench = cloud.ports.inventory.targets(), cloud.bench
    return sweep(targets, now, bench_at=lambda _target: bench, patience=patience, everything=everything)


def _text(one: Swept | FailedTarget) -> str:
    if isinstance(one, FailedTarget):
        return f"failed {one.name}: {one.error}"
    if one.left is not None:
        return one.left.text
    if one.deleted:
        return f"deleted {one.volume.id} in {one.target} (validation {one.volume.validation_id})"
    return f"kept {one.volume.id} in {one.target}: it is due {one.volume.deadline:%Y-%m-%d %H:%M} UTC"
