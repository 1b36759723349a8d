"""What is said of the volumes that one takes over from, or may."""

from collections.abc import Iterator, Mapping
from typing import Final

from plimsoll.domain.groups.group import Peer, ToldBy
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import DemandSummary
from plimsoll.domain.volume import Volume

_TOLD_BY: Final[Mapping[ToldBy, str]] = {
    ToldBy.TAG: "the tag {}",
    ToldBy.STATEFUL_SET: "the StatefulSet behind the claims {}",
    ToldBy.BLUE_GREEN: "blue and green",
    ToldBy.AUTO_SCALING: "the Auto Scaling group {}",
}


def for_peer(peer: Peer | None) -> Iterator[Reason]:
    """Why a reduction leaves room for another volume's work."""
    if peer is None:
        return
    whom = f"It takes over from {_named(peer.volume)} ({_TOLD_BY[peer.takeover.told_by].format(peer.takeover.name)})"
    if peer.ceiling is None:
        yield Reason("peer-not-known", f"{whom}, which {peer.unknown}. Until that is known it keeps what it has.")
        return
    yield Reason(
        "takes-over",
        f"{whom}, which by its own answer carries {peer.ceiling.iops:,.0f} IOPS and "
        f"{peer.ceiling.throughput_mib_s:,.0f} MiB/s. With less it would throttle in the place of that one.",
    )


def suspected(peer: Peer, did: DemandSummary | None) -> Reason:
    """Why only the owner knows if a volume takes over from another, as its name suggests."""
    peak = f", which {peer.unknown}"
    if did is not None:
        peak = f", which did up to {did.least_peak_iops:,.0f} IOPS and {did.least_peak_throughput_mib_s:,.0f} MiB/s"
    return Reason(
        "may-take-over",
        f"Its name suggests that it takes over from {_named(peer.volume)}{peak}. Then a smaller one throttles after a "
        "failover. If so, give both the same value of the tag plimsoll:takeover, and audit again.",
    )


def detached_peer(others: int) -> Reason:
    """That a detached volume takes over from others."""
    whom = "another volume" if others == 1 else f"{others:,} other volumes"
    return Reason(
        "takes-over-detached",
        f"It takes over from {whom}: do not delete it unless its owner says that no failover needs it.",
    )


def _named(volume: Volume) -> str:
    return f"{volume.name} ({volume.id})" if volume.name else volume.id
