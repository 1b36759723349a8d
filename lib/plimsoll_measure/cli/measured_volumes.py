"""Volumes that were measured, as the options of a benchmark or an import describe them."""

from plimsoll.clouds.published import published_host, types_by_cloud
from plimsoll.envelopes.campaigns import HostEntry
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec
from plimsoll_measure.adding import UNKNOWN_TYPE
from plimsoll_measure.cli.options import MeasuredVolumeOptions


def spec_from(measured: MeasuredVolumeOptions) -> VolumeSpec:
    """The volume that was measured. BadInput for figures without a type."""
    if measured.type_ is None and (measured.size_gib, measured.iops, measured.throughput_mib_s) != (None, None, None):
        raise BadInput("a size, IOPS or throughput mean nothing without the volume's type: add --type, such as gp3.")
    return VolumeSpec(
        type=measured.type_ or UNKNOWN_TYPE,
        size_gib=measured.size_gib or 0,
        iops=measured.iops,
        throughput_mib_s=measured.throughput_mib_s,
    )


def host_from(provider: str, host_type: str) -> HostEntry:
    """The host that was measured on, with what is published of its type, where that is known."""
    published = published_host(provider, host_type)
    if published is None:
        return HostEntry(type=host_type)
    return HostEntry(
        type=host_type,
        baseline_iops=published.limits.baseline_iops,
        maximum_iops=published.limits.maximum_iops,
        baseline_throughput_mib_s=published.limits.baseline_throughput_mib_s,
        maximum_throughput_mib_s=published.limits.maximum_throughput_mib_s,
        source=published.source,
    )


def check_measured_place(spec: VolumeSpec, provider: str, measured: MeasuredVolumeOptions) -> None:
    """BadInput for a type that its cloud does not have, or for half a place."""
    types = types_by_cloud().get(provider)
    if types is not None and spec.type not in {UNKNOWN_TYPE, *types}:
        raise BadInput(
            f"there is no volume type {spec.type} in {provider}: --type is one of {', '.join(sorted(types))}."
        )
    if (measured.account is None) != (measured.region is None):
        raise BadInput("--account and --region together say where it was measured: give both or neither.")
