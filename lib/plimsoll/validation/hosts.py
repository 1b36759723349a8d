"""Which bench host measures: ready, in the right zone, and carrying more than what is to be measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence

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
        fit = [host for host in hosts if host.zone == zone and not any(_refused(host, spec, ceiling))]
        if fit:
            free = [host for host in fit if is_free(host)]
            return min(free or fit, key=lambda host: (host.host.ceiling.sustained_throughput_mib_s, host.host.id))
    told = [why for host in hosts if host.zone in zones for why in _refused(host, spec, ceiling)]
    told += [f"{host.host.id} is in {host.zone}" for host in hosts if host.zone not in zones]
    reasons = f": {'; '.join(told)}" if told else ""
    raise NotMeasured(
        f"no bench host in {' or '.join(zones)} can measure {spec}{reasons}. Tag a running instance there that takes "
        "commands with plimsoll:bench=true (where keys have no colon, plimsoll-bench=true; docs/validation.md says how "
        "it takes them), or name one (--bench-host; in the service, validation.bench_hosts)."
    )


def _refused(host: BenchHost, spec: VolumeSpec, ceiling: Ceiling) -> Iterator[str]:
    name = f"{host.host.id} ({host.host.type})"
    if not host.ready:
        yield host.not_ready.rstrip(".")
    if spec.type in host.shares:
        yield f"{name} has a volume of {spec.type} already, with which another would share its performance"
    if host.host.limits is None:
        yield f"{name} publishes no storage limits, so it could be what is measured"
        return
    cap = host.host.cap(spec.type)
    if cap is None:
        yield f"{name} takes no volume of {spec.type}"
        return
    told = ""
    for (unit, carries), wanted in zip(
        _figures(host.host.ceiling & cap).items(), _figures(ceiling).values(), strict=True
    ):
        if carries < wanted and not (told and unit.endswith(told)):
            told = unit
            yield f"{name} carries {carries:,.0f} {unit} for ever, under the {wanted:,.0f} to be measured"


def _figures(ceiling: Ceiling) -> Mapping[str, float]:
    """What is carried for ever, of reads and of writes: they may have limits of their own."""
    iops, throughput_mib_s = ceiling.sustained_iops, ceiling.sustained_throughput_mib_s
    return {
        "IOPS": iops,
        "written IOPS": iops / ceiling.write_iops_cost,
        "MiB/s": throughput_mib_s,
        "written MiB/s": throughput_mib_s / ceiling.write_throughput_cost,
    }
