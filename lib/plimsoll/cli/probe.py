"""`plimsoll probe`: what hosts, or this machine, count of their volumes once a second."""

from collections.abc import Iterator, Sequence

import typer
from rich.console import Console

from plimsoll.bench.probe.local import probe_here
from plimsoll.bootstrap import Scope, clock, open_clouds, patience_of, probe_book, probe_store
from plimsoll.cli.exit_codes import INTERRUPTED, PARTIAL
from plimsoll.domain.errors import BadInput
from plimsoll.probe import MOST_SECONDS, HostProbe, NotProbed, ProbeContext, cancel, hosts_of, probe
from plimsoll.reports.seconds_seen import seen_lines, seen_title
from plimsoll.reports.terminal.probe import show_seen
from plimsoll.reports.terminal.validation import show_lines
from plimsoll.settings import Settings


def probe_volumes(volumes: Sequence[str], seconds: int, scope: Scope, *, stop: bool) -> None:
    """Probes volumes by their hosts; exits as partial where something was not seen."""
    settings, console, now = Settings.of_environment(), Console(), clock().now()
    if len(scope.clouds) > 1:
        raise BadInput("volumes are probed in one cloud at a time: say which with one --cloud.")
    (cloud,) = open_clouds(scope, settings, today=now.date())
    context = ProbeContext(
        bench=cloud.bench,
        store=probe_store(settings),
        book=probe_book(settings),
        patience=patience_of(settings),
        say=lambda text: show_lines(console, [text], "dim"),
    )
    found = list(hosts_of(volumes, seconds, cloud.ports, now))
    hosts = [one for one in found if isinstance(one, HostProbe)]
    wrong = [one for one in found if isinstance(one, NotProbed)]
    _show_wrong(console, wrong)
    if stop:
        for one in cancel(hosts, context):
            show_lines(console, [f"{one.host_id} stops looking at {', '.join(one.volume_ids)}"])
        complete = True
    else:
        complete = _shown(console, hosts, context)
    if wrong or not complete:
        raise typer.Exit(PARTIAL)


def probe_devices(devices: Sequence[str], seconds: int) -> None:
    """Probes devices of this machine; exits as partial where one of them is none."""
    console = Console()
    if not 1 <= seconds <= MOST_SECONDS:
        raise BadInput(f"a probe takes from 1 s to {MOST_SECONDS:,} s (a day): give --for a time within that.")
    seen, absent = probe_here(devices, seconds)
    for one in seen:
        show_seen(console, one.volume_id, seen_title(one), list(seen_lines(one, {})))
    if absent:
        show_lines(console, [f"not probed  {one}: this machine has no such block device." for one in absent], "red")
        raise typer.Exit(PARTIAL)


def _shown(console: Console, hosts: Sequence[HostProbe], context: ProbeContext) -> bool:
    """Prints what is seen as it arrives; whether all of it was."""
    complete = True
    try:
        for event in probe(hosts, context):
            if isinstance(event, NotProbed):
                _show_wrong(console, [event])
                complete = False
                continue
            seen = event.line.seen
            show_seen(console, seen.volume_id, seen_title(seen), list(seen_lines(seen, {})))
    except KeyboardInterrupt:
        console.print(
            "interrupted; the hosts go on looking. Give the same command again to see what they saw, or with --stop.",
            soft_wrap=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    return complete


def _show_wrong(console: Console, wrong: Sequence[NotProbed]) -> None:
    show_lines(console, list(_sentences(wrong)), "red")


def _sentences(wrong: Sequence[NotProbed]) -> Iterator[str]:
    for one in wrong:
        yield f"not probed  {', '.join(one.volume_ids)}: {one.error}"
