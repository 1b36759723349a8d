"""Read a host's own counts of its volumes once a second: peaks, exceeded limits, latency. It does no I/O."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli import options
from plimsoll.cli.exit_codes import EXIT_INTERRUPTED, PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput, NotMeasured

if TYPE_CHECKING:
    from plimsoll.clouds.scope import Scope
    from plimsoll.demand.seconds import SecondsSeen
    from plimsoll_measure.probe import HostProbe, NotProbed, ProbeContext

_LISTED: Final = ("Measure", 2)


def probe_command(
    volumes: Annotated[
        list[str],
        typer.Argument(
            metavar="VOLUME...",
            help="Volumes by id or name, or paths of block devices of this machine.",
        ),
    ],
    for_: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long to read: 90s, 10m, 1h, 1d at most.")
    ] = "1h",
    *,
    stop: Annotated[bool, typer.Option("--stop", help="End the probe of these volumes instead.")] = False,
    scope: options.ScopeOptions,
) -> None:
    from plimsoll.cli.option_values import scope_from, seconds_from

    here = [volume for volume in volumes if volume.startswith("/")]
    if here and len(here) < len(volumes):
        raise BadInput("name volumes, or devices of this machine, but not both.")
    if here:
        _probe_devices(here, seconds_from(for_))
        return
    _probe_volumes(volumes, seconds_from(for_), scope_from(scope), stop=stop)


def _probe_volumes(volumes: Sequence[str], seconds: int, scope: Scope, *, stop: bool) -> None:
    """Probes volumes by their hosts; exits as partial where something was not seen."""
    from plimsoll.bootstrap.books import probe_book
    from plimsoll.bootstrap.clouds import open_clouds
    from plimsoll.settings import Settings
    from plimsoll_measure.local_files import bench_patience, probe_store
    from plimsoll_measure.probe import HostProbe, NotProbed, ProbeContext, group_by_host

    settings, console, now = Settings.from_environment(), Screen(), clock().now()
    if len(scope.clouds) > 1:
        raise BadInput("volumes are probed in one cloud at a time: say which with one --cloud.")
    (cloud,) = open_clouds(scope, settings, today=now.date())
    context = ProbeContext(
        bench=cloud.bench,
        store=probe_store(settings),
        book=probe_book(settings),
        patience=bench_patience(settings),
        say=lambda text: console.say(text, "dim"),
    )
    probes = list(group_by_host(volumes, seconds, cloud.ports, now))
    hosts = [probe for probe in probes if isinstance(probe, HostProbe)]
    wrong = [probe for probe in probes if isinstance(probe, NotProbed)]
    if wrong and not hosts:
        _show_wrong(console, wrong[:-1])
        raise wrong[-1].error
    _show_wrong(console, wrong)
    complete = _end_probes(console, hosts, context) if stop else _show_probes(console, hosts, context)
    if wrong or not complete:
        raise typer.Exit(PARTIAL)


def _probe_devices(devices: Sequence[str], seconds: int) -> None:
    """Probes devices of this machine; exits as partial where one of them is none."""
    from plimsoll_measure.probe import MOST_SECONDS
    from plimsoll_measure.terminal.probe import show_seen

    console = Screen()
    if not 1 <= seconds <= MOST_SECONDS:
        raise BadInput(f"a probe takes from 1 s to {MOST_SECONDS:,} s (a day): give --for a time within that.")
    seen, absent = _probe_here(devices, seconds)
    for device_seen in seen:
        show_seen(console, device_seen)
    for device in absent:
        console.say(f"not probed: {device}: this machine has no such block device. See them with: lsblk -p", "red")
    if absent:
        raise typer.Exit(PARTIAL)


def _end_probes(console: Screen, hosts: Sequence[HostProbe], context: ProbeContext) -> bool:
    """Prints which probes were under way, each once it has ended; always true, as what was asked is then done."""
    from plimsoll_measure.probe import cancel

    ended = set[str]()
    for probe in cancel(hosts, context):
        console.say(f"ended on {probe.host_id}: the probe of {', '.join(probe.volume_ids)}")
        ended.add(probe.host_id)
    for host in hosts:
        if host.host_id not in ended:
            console.say(f"no probe of {', '.join(host.volume_ids)} is under way on {host.host_id}")
    return True


def _show_probes(console: Screen, hosts: Sequence[HostProbe], context: ProbeContext) -> bool:
    """Prints what is seen as it arrives; whether all of it was."""
    from plimsoll_measure.probe import NotProbed, probe_hosts
    from plimsoll_measure.terminal.probe import show_seen

    complete = True
    try:
        with console.status("the hosts read; Ctrl-C leaves them to it"):
            for event in probe_hosts(hosts, context):
                if isinstance(event, NotProbed):
                    _show_wrong(console, [event])
                    complete = False
                    continue
                show_seen(console, event.line.seen)
    except KeyboardInterrupt:
        console.say(
            "Interrupted. The hosts go on reading. Give the same command again to get the result, or add "
            "--stop to end it."
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    return complete


def _show_wrong(console: Screen, wrong: Sequence[NotProbed]) -> None:
    for failure in wrong:
        unnamed = [volume for volume in failure.volume_ids if volume not in str(failure.error)]
        console.say(f"not probed: {', '.join(unnamed)}{': ' if unnamed else ''}{failure.error}", "red")


def _probe_here(devices: Sequence[str], seconds: int) -> tuple[Sequence[SecondsSeen], Sequence[str]]:
    """The seconds seen of these devices, and those that are none. After Ctrl-C that is what was seen until then.

    NotMeasured where the script fails, BadInput for a path that cannot be one of several.
    """
    from plimsoll_measure.bench.probe import on_host
    from plimsoll_measure.bench.probe.answer import read_probe

    odd = next((device for device in devices if "," in device), None)
    if odd is not None:
        raise BadInput(f"{odd} has a comma in its name, and devices are told apart by commas: give a link to it.")
    words = [sys.executable, str(Path(on_host.__file__)), ",".join(devices), str(seconds)]
    # In a session of its own, Ctrl-C in a terminal reaches us alone.
    with subprocess.Popen(  # noqa: S603  # our own script
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            output, complaint = process.communicate()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            output, complaint = process.communicate()
    if process.returncode:
        raise NotMeasured(f"this machine's devices cannot be read: {complaint.strip()[-200:]}. It needs Linux.")
    return read_probe(output)
