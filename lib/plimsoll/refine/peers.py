"""Peers: what the answers of volumes say of those that take over from them, once all are known alone.

A volume is decided alone first, and so is each from which it takes over. Where a reduction leaves less than any of them
will have, it is decided again with room for that. So an answer rests on peers' answers that are proved, and is itself
proved as any other.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from plimsoll.decide.answer import Change, InsufficientData, Keep, Recommendation, Wait
from plimsoll.decide.decide import kind_by_state
from plimsoll.decide.groups import SUSPECTED_SHARE, Peer, Takeover, ToldBy, takeovers_by_volume
from plimsoll.decide.offers import Market, Offer, ceiling_on_hosts, find_shortfalls, takeover_loss
from plimsoll.decide.reasons import suspected_takeover_reason, with_idleness
from plimsoll.demand.epochs import Unsettled
from plimsoll.demand.profile import DemandSummary
from plimsoll.model.ceiling import NOTHING, Ceiling, Need
from plimsoll.model.volume import Volume
from plimsoll.reading.window import Window
from plimsoll.refine.member import Member
from plimsoll.refine.past import reduced_to

_UNSEEN: Final = frozenset({Unsettled.NEW, Unsettled.REATTACHED, Unsettled.MOVED})
"""Why a node waits that was not seen through a week where it is."""


@dataclass(slots=True)
class Peers:
    """The takeovers among the volumes that are judged, and the first answer of each: what it will carry, or why that is
    not known."""

    takeovers: Iterable[Takeover]
    members: Iterable[Member]
    window: Window
    market: Market
    _first: dict[str, Recommendation] = field(default_factory=dict)
    _members: dict[str, Member] = field(init=False)
    _takeovers: Mapping[str, Takeover] = field(init=False)

    def __post_init__(self) -> None:
        self._members = {member.volume.id: member for member in self.members}
        self._takeovers = {
            name: takeover for name, takeover in takeovers_by_volume(self.takeovers).items() if name in self._members
        }

    def to_judge_again(self) -> set[str]:
        """The volumes, by id, whose answer has to know more of those that they take over from."""
        known = {
            name: member
            for name in self._takeovers
            if (member := self._members[name]).judged is not None and member.error is None
        }
        for name, member in known.items():
            if member.judged is not None:
                self._first.setdefault(name, member.judged.recommendation)
        again: set[str] = set()
        for name, member in known.items():
            takeover = self._takeovers[name]
            if takeover.is_suspected:
                again |= self._ask_for_peaks(member, takeover)
            elif self._asks_for(member, takeover):
                again.add(name)
        return again

    def name_suspected(self) -> None:
        """Makes reductions of volumes that may take over from another, by its name, their owner's decision."""
        for name, takeover in self._takeovers.items():
            judged = self._members[name].judged
            if judged is not None and judged.recommendation.idle is not None:  # it stands by for another
                judged = replace(judged, recommendation=with_idleness(judged.recommendation, None))
                self._members[name].judged = judged
            if not takeover.is_suspected or judged is None or self._members[name].error is not None:
                continue
            answer = judged.recommendation
            peer = self._suspect(answer, takeover)
            if isinstance(answer, Change) and peer is not None:
                loss = takeover_loss(answer.comparison.present, answer.target.ceiling)
                why = suspected_takeover_reason(peer, self._summary(peer.volume))
                answer = replace(answer, peer=peer, losses=(*answer.losses, loss), reasons=(*answer.reasons, why))
                self._members[name].judged = replace(judged, recommendation=answer)

    def _asks_for(self, member: Member, takeover: Takeover) -> bool:
        """Gives a volume the peer that it is to leave room for; whether it has to be decided again for that."""
        answer = self._first[member.volume.id]
        peer = self._peer(answer, takeover)
        if peer is None or (member.peer is not None and peer.need == member.peer.need):
            return False
        member.peer = peer
        return True

    def _peer(self, answer: Recommendation, takeover: Takeover) -> Peer | None:
        """The one that asks for most of those that the volume of an answer takes over from; None if what is chosen is
        enough for all of them."""
        if not isinstance(answer, Change | Wait):
            return None
        present = answer.comparison.present
        offer = reduced_to(answer, answer.comparison.usable)
        if offer is None:
            return None
        peers = list(self._peers(answer.volume, takeover, present, waits=isinstance(answer, Wait)))
        unknown = next((peer for peer in peers if peer.unknown), None)
        if unknown is not None:
            return unknown
        short = [peer for peer in peers if any(find_shortfalls("", offer.ceiling, peer.need))]
        if not short:
            return None
        need = NOTHING
        for peer in short:
            need = need.no_less_than(peer.need)
        most = max(short, key=lambda peer: (peer.need.iops, peer.need.throughput_mib_s))
        return replace(most, need=need)

    def _peers(self, volume: Volume, takeover: Takeover, present: Ceiling, *, waits: bool = False) -> Iterator[Peer]:
        """The volumes that a volume takes over from, and what each asks: no more than it has. `waits`: so does it."""
        most = Need.from_ceiling(present)
        for other in takeover.others(volume):
            carried = self._find_carried(other, takeover, waits=waits)
            if isinstance(carried, str):
                yield Peer(takeover=takeover, volume=other, need=most, unknown=carried)
            elif carried is not None:
                need = Need.from_ceiling(carried.counted_as(present.accounting)).no_more_than(most)
                yield Peer(takeover=takeover, volume=other, need=need, ceiling=carried)

    def _find_carried(self, volume: Volume, takeover: Takeover, *, waits: bool) -> Ceiling | str | None:
        """The ceiling of a volume by its first answer, or why that is not known. None: it asks for nothing.

        What is expected of one that waits counts for others that wait, and a new node says nothing against its group.
        """
        if kind_by_state(volume) is not None or self._is_stopped(volume):
            return None
        member = self._members.get(volume.id)
        if member is not None and member.error is not None:
            return "could not be read"
        answer = self._first.get(volume.id)
        if isinstance(answer, Change) and not answer.measured:
            return "is not known well enough"
        offer = _find_offer(answer, waits=waits, is_node=takeover.told_by is ToldBy.AUTO_SCALING)
        if offer is not None:
            return offer.ceiling
        spec = volume.spec
        if isinstance(answer, InsufficientData):
            if answer.part is None or not answer.part.together:
                return "is not known well enough"
            spec = spec if answer.part.offer is None else answer.part.offer.spec
        kind = self.market.types.get(spec.type)
        return "is of a type without published limits" if kind is None else ceiling_on_hosts(kind, spec, volume)

    def _is_stopped(self, volume: Volume) -> bool:
        """True if all its hosts have been stopped since before the window."""
        stopped = [host.stopped_since for host in volume.hosts]
        return bool(stopped) and all(
            since is not None and since.timestamp() <= self.window.start_s for since in stopped
        )

    def _ask_for_peaks(self, member: Member, takeover: Takeover) -> set[str]:
        """Asks for the exact peaks of two volumes if the smaller may get too little for the other.

        That is if one may do a tenth of the other. The volumes, by id, whose peaks were not asked for before: either
        may be on a host of its own.
        """
        answer = self._first[member.volume.id]
        offer = reduced_to(answer, answer.comparison.usable) if isinstance(answer, Change) else None
        if not isinstance(answer, Change) or offer is None:
            return set()
        asked = set[str]()
        for peer in self._peers(answer.volume, takeover, answer.comparison.present):
            summary, of_peer = self._summary(answer.volume), self._summary(peer.volume)
            if summary is None or of_peer is None or not _leaves_less(offer, peer, _open_sides(summary, of_peer)):
                continue
            for suspect in (member, self._members[peer.volume.id]):
                if not suspect.exact_peaks:
                    asked.add(suspect.volume.id)
                suspect.exact_peaks = True
        return asked

    def _suspect(self, answer: Recommendation, takeover: Takeover) -> Peer | None:
        """The busiest of those that the volume of a reduction may take over from; None if there is none."""
        summary = self._summary(answer.volume)
        if not isinstance(answer, Change) or summary is None:
            return None
        offer = reduced_to(answer, answer.comparison.usable)
        suspects = [
            peer
            for peer in self._peers(answer.volume, takeover, answer.comparison.present)
            if offer is not None and _is_suspect(offer, summary, peer, self._summary(peer.volume))
        ]
        return max(suspects, key=lambda peer: (peer.need.iops, peer.need.throughput_mib_s), default=None)

    def _summary(self, volume: Volume) -> DemandSummary | None:
        """The demand of a volume; None if that is not known."""
        member = self._members.get(volume.id)
        if member is None or member.error is not None or member.judged is None:
            return None
        answer = member.judged.recommendation
        return answer.demand if isinstance(answer, Change | Keep | Wait) else None


def _find_offer(answer: Recommendation | None, *, waits: bool, is_node: bool) -> Offer | None:
    """The offer that an answer means for its volume; None if that stays as it is."""
    match answer:
        case Change():
            return answer.target
        case Keep():
            return answer.beneath
        case Wait() if waits or (is_node and answer.code in _UNSEEN):
            return answer.expected
        case _:
            return None


def _sides(summary: DemandSummary) -> tuple[tuple[float, float], tuple[float, float]]:
    """The least and the most that the peak of each side can be."""
    return (
        (summary.least_peak_iops, summary.peak_iops),
        (summary.least_peak_throughput_mib_s, summary.peak_throughput_mib_s),
    )


def _open_sides(summary: DemandSummary, of_peer: DemandSummary) -> tuple[bool, bool]:
    """The sides, IOPS and MiB/s, on which it is open if one peak is under a tenth of the other."""
    iops, throughput_mib_s = (
        least < SUSPECTED_SHARE * most_of_peer and not most < SUSPECTED_SHARE * least_of_peer
        for (least, most), (least_of_peer, most_of_peer) in zip(_sides(summary), _sides(of_peer), strict=True)
    )
    return iops, throughput_mib_s


def _is_suspect(offer: Offer, summary: DemandSummary, peer: Peer, of_peer: DemandSummary | None) -> bool:
    """True if a volume does under a tenth of a peer where its offer has too little for it.

    So it may if the peer's answer is unknown. `of_peer` is the peer's demand; None: not known, and no suspicion.
    """
    if peer.unknown:
        return True
    if of_peer is None:
        return False
    iops, throughput_mib_s = (
        least < SUSPECTED_SHARE * least_of_peer
        for (least, _), (least_of_peer, _) in zip(_sides(summary), _sides(of_peer), strict=True)
    )
    return _leaves_less(offer, peer, (iops, throughput_mib_s))


def _leaves_less(offer: Offer, peer: Peer, sides: tuple[bool, bool]) -> bool:
    """True if an offer carries less than a peer will have, on any of these sides."""
    need = Need(
        iops=peer.need.iops if sides[0] else 0.0,
        throughput_mib_s=peer.need.throughput_mib_s if sides[1] else 0.0,
    )
    return any(find_shortfalls("", offer.ceiling, need))
