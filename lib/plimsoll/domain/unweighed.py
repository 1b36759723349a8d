"""Answers that a volume's state gives, so that no demand is weighed."""

from plimsoll.domain.context import DecisionContext
from plimsoll.domain.groups.group import Takeover
from plimsoll.domain.kinds import DETACHED
from plimsoll.domain.reasons import reasons
from plimsoll.domain.reasons.volume_reasons import detached_peer
from plimsoll.domain.recommendation import Unweighed
from plimsoll.domain.volume import Volume, VolumeState
from plimsoll.domain.volume_types import type_of


def kind_by_state(volume: Volume) -> str | None:
    """The kind of answer that a volume's state gives, so that no metric can say anything. None if its demand does."""
    return DETACHED if volume.state is VolumeState.AVAILABLE and not volume.attachments else None


def answer_by_state(volume: Volume, context: DecisionContext, takeover: Takeover | None = None) -> Unweighed | None:
    """The answer that a volume's state gives, None if its demand does. Raises UnknownVolumeType."""
    kind = kind_by_state(volume)
    if kind is None:
        return None
    type_of(volume.spec, context.market.types)
    usd_month = None if volume.edge is not None else context.market.book.usd_month(volume.spec)
    others = 0 if takeover is None or takeover.is_suspected else len(takeover.volumes) - 1
    why = (*reasons.detached_reasons(usd_month, is_needed=others > 0), *((detached_peer(others),) if others else ()))
    return Unweighed(action=kind, volume=volume, usd_month_now=usd_month, reasons=why)
