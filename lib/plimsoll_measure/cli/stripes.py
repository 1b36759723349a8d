"""Ask AWS hosts which of their volumes are one md or LVM device; audits then size and change these together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput, CloudError, PlimsollError
from plimsoll.ports import FailedTarget

if TYPE_CHECKING:
    from plimsoll.ports import Bench, Target

_LISTED: Final = ("Audit", 4)


def stripes_command(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", help="Instance ids, such as i-0123456789abcdef0.")],
    aws: options.AwsOptions,
    region: options.Regions = None,
) -> None:
    from plimsoll.bootstrap.books import stripe_book
    from plimsoll.bootstrap.clocks import clock
    from plimsoll.bootstrap.clouds import open_clouds
    from plimsoll.cli.option_values import scope_from
    from plimsoll.clouds.registry import AWS
    from plimsoll.settings import Settings
    from plimsoll_measure.local_files import bench_patience
    from plimsoll_measure.terminal.validation import show_lines
    from plimsoll_measure.validation.command import stripe_sets

    asked = scope_from(options.ScopeOptions(aws=aws, region=region))
    scope = replace(asked, clouds=(AWS,), regions=asked.regions_of(AWS))  # a scope file may name other clouds
    settings, console, today = Settings.from_environment(), Screen(highlight=True), clock().now().date()
    (cloud,) = open_clouds(scope, settings, today=today)
    bench, targets = cloud.bench, cloud.ports.inventory.targets()
    patience, book = bench_patience(settings), stripe_book(settings)
    failed = False
    for host_id in hosts:
        try:
            target = _place_of(host_id, targets, bench)
            sets = stripe_sets(host_id, target, today, bench=bench, patience=patience)
        except PlimsollError as error:
            show_lines(console, [f"failed {host_id}: {error}"], "red")
            failed = True
            continue
        kept = book.note(target, host_id, sets)
        book.save()
        lines = [f"{stripes}: {', '.join(stripes.members)}" for stripes in kept]
        show_lines(console, lines or [f"{host_id} in {target}: no volumes are joined to one device"])
    if failed:
        raise typer.Exit(PARTIAL)


def _place_of(host_id: str, targets: Sequence[Target | FailedTarget], bench: Bench) -> Target:
    """The account and region of a host, and that it is ready; BadInput where it is in none of them."""
    errors: list[str] = []
    for target in targets:
        if isinstance(target, FailedTarget):
            errors.append(str(target.error))
            continue
        try:
            host = next(iter(bench.hosts(target, (), (host_id,))), None)
        except CloudError as raised:
            errors.append(str(raised))
            continue
        if host is None:
            continue
        if not host.ready:
            raise BadInput(host.not_ready)
        return target
    why = f" ({'; '.join(error.rstrip('.') for error in dict.fromkeys(errors))})" if errors else ""
    raise BadInput(f"there is no running instance {host_id} in these accounts and regions{why}: check --region.")
