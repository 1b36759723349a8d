"""Which bench host measures: ready, in the right zone, and carrying more than what is to be measured."""

from collections.abc import Callable, Iterator, Sequence

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.volume import VolumeSpec
from plimsoll.ports import BenchHost


def choose(
    hosts: Sequence[BenchHost],
    spec: VolumeSpec,
    ceiling: Ceiling,
    zones: Sequence[str],
    is_free: Callable[[BenchHost], bool],
) -> BenchHost:
    """The smallest host that is ready and carries the ceiling for ever, in the first zone that has one; of several
    there, one that is free, where any is.

    NotMeasured says of every host why it was refused: one whose own ceiling is under the target's measures itself.
    """
    for zone in zones:
        fit = [host for host in hosts if host.zone == zone and not any(_refused(host, ceiling))]
        if fit:
            free = [host for host in fit if is_free(host)]
            return min(free or fit, key=lambda host: (host.host.ceiling.sustained_throughput_mib_s, host.host.id))
    told = [why for host in hosts if host.zone in zones for why in _refused(host, ceiling)]
    told += [f"{host.host.id} is in {host.zone}" for host in hosts if host.zone not in zones]
    reasons = f": {'; '.join(told)}" if told else ""
    raise NotMeasured(
        f"no bench host in {' or '.join(zones)} can measure {spec}{reasons}. Tag a running, SSM-managed instance there "
        "with plimsoll:bench=true, or name one (--bench-host; in the service, validation.bench_hosts)."
    )


def _refused(host: BenchHost, ceiling: Ceiling) -> Iterator[str]:
    if not host.ready:
        yield host.not_ready.rstrip(".")
    if host.host.limits is None:
        yield f"{host.host.id} ({host.host.type}) publishes no storage limits, so it could be what is measured"
        return
    name, carried = f"{host.host.id} ({host.host.type})", host.host.ceiling
    for unit, carries, wanted in (
        ("IOPS", carried.sustained_iops, ceiling.iops),
        ("MiB/s", carried.sustained_throughput_mib_s, ceiling.throughput_mib_s),
    ):
        if carries < wanted:
            yield f"{name} carries {carries:,.0f} {unit} for ever, under the {wanted:,.0f} to be measured"
