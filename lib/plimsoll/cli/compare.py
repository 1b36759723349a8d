"""Show AWS Compute Optimizer's recommendations beside a run's.

Where they differ, the volume's demand says why. It only reads, with the run's own accounts and one more permission:
see `plimsoll permissions --for compare`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import BadInput
from plimsoll.reports.printable import put_out

if TYPE_CHECKING:
    from plimsoll.ports import Target

COMPARE_FORMATS: Final = ("text", "json", "md")

_LISTED: Final = ("Read a run", 4)


def compare_command(
    run: options.RunFolder = None,
    format_: Annotated[str, typer.Option("--format", help="text, json or md.")] = "text",
    rows: Annotated[int, typer.Option(min=0, help="Most volumes listed; 0 lists all.")] = 20,
    external_id: Annotated[str | None, typer.Option(help="The run's external id, which is not kept.")] = None,
) -> None:
    from plimsoll.api.runs import run_folder
    from plimsoll.bootstrap.advice import read_optimizer
    from plimsoll.clouds.published import types_by_cloud
    from plimsoll.clouds.scope import Scope
    from plimsoll.model.policy import Headroom
    from plimsoll.orders import read_order
    from plimsoll.reports.advice import compare_run, compared_json, compared_markdown, show_compared
    from plimsoll.settings import Settings

    if format_ not in COMPARE_FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(COMPARE_FORMATS)}.")
    folder = run_folder(run)
    order, console = read_order(folder), Screen(stderr=format_ != "text")
    scope = Scope.from_dict(order.scope, external_id=external_id)
    targets = _find_targets(folder)
    with console.doing("reading Compute Optimizer"):
        advice = read_optimizer(scope, targets, Settings.from_environment())
    volumes = compare_run(
        folder,
        advice.by_volume,
        advice.failed,
        provider=AWS,
        types=types_by_cloud()[AWS],
        headroom=Headroom.from_policy(order.policy),
    )
    if format_ == "text":
        show_compared(console, volumes, advice.failed, rows)
    elif format_ == "json":
        put_out(compared_json(order.id, volumes, advice.failed))
    else:
        put_out([compared_markdown(order.id, volumes, advice.failed)])
    if advice.failed:
        raise typer.Exit(PARTIAL)


def _find_targets(folder: Path) -> list[Target]:
    """The accounts and regions of AWS in a run. BadInput if there are none."""
    from plimsoll.ports import Target
    from plimsoll.reports.run_reader import stream_records, stream_unanswered

    records, unanswered = stream_records(folder), stream_unanswered(folder)
    places = {(record.provider, record.account, record.region) for record in records}
    places |= {(volume.provider, volume.account, volume.region) for volume in unanswered}
    targets = [Target(account=account, region=region) for provider, account, region in places if provider == AWS]
    if not targets:
        raise BadInput(f"{folder} has no volumes on AWS, and Compute Optimizer knows no others: name another run.")
    return sorted(targets)
