"""One picture of what is paid: by type and state, what of it is used, can be taken now, needs proof, or its owner."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from plimsoll.model.kinds import COSTS, CountsAs
from plimsoll.reports.record import RecommendationRecord, to_cents
from plimsoll_bill.states import rows
from plimsoll_bill.states.rows import StateRecord

SNAPSHOTS: Final = "snapshots"
ELSEWHERE: Final = "not in this run"
USED: Final = "used"
UNKNOWN: Final = "not known"


@dataclass(slots=True)
class PictureRow:
    """The money of one type and state in cents a month. The five parts together are what is paid."""

    type: str
    state: str
    paid: int = 0
    used: int = 0
    now: int = 0
    proof: int = 0
    owner: int = 0
    unknown: int = 0

    def add(self, paid: int, *, now: int = 0, proof: int = 0, owner: int = 0, unknown: int = 0) -> None:
        """Adds an amount and its parts; what is left of it is used. No part is more than what the others leave."""
        now = max(0, min(now, paid))
        proof = max(0, min(proof, paid - now))
        owner = max(0, min(owner, paid - now - proof))
        unknown = max(0, min(unknown, paid - now - proof - owner))
        self.paid += paid
        self.now += now
        self.proof += proof
        self.owner += owner
        self.unknown += unknown
        self.used += paid - now - proof - owner - unknown

    @property
    def plain(self) -> dict[str, Any]:
        """The same in plain values: USD a month."""
        plain = asdict(self)
        return {key: value / 100 if isinstance(value, int) else value for key, value in plain.items()}


def draw_picture(
    records: Iterable[RecommendationRecord],
    states: Sequence[StateRecord],
    paid_cents: Mapping[str, int] | None = None,
) -> list[PictureRow]:
    """The rows of the picture, the dearest first.

    `paid_cents` are what a bill says was paid, by the id of what it was paid for: its sum is the picture's. Without it
    volumes cost what the run says, and snapshots what they are known to be billed for.
    """
    bill = None if paid_cents is None else dict(paid_cents)
    by_id = {name: state for state in states if state.state in _OF_VOLUMES for name in state.ids}
    drawn: dict[tuple[str, str], PictureRow] = {}

    def row(kind: str, state: str) -> PictureRow:
        return drawn.setdefault((kind, state), PictureRow(kind, state))

    for record in records:
        listed = to_cents(record.monthly_usd_now or 0.0)
        paid = listed if bill is None else bill.pop(record.volume_id, 0)
        state = by_id.get(record.volume_id)
        parts = {key: _scale(part, paid, listed) for key, part in _parts(record, state, listed).items()}
        is_known = record.kind.money is not CountsAs.UNKNOWN
        name = state.state if state is not None else USED if is_known else UNKNOWN
        row(record.current.type, name).add(paid, **parts)
    for state in sorted(states, key=lambda state: state.state == rows.FAST_RESTORE):
        if state.state in _OF_VOLUMES or state.state == rows.NO_ARCHIVE or (bill is None and state.monthly_usd is None):
            continue
        billed = [bill.pop(name, 0) for name in state.ids] if bill is not None else [to_cents(state.monthly_usd or 0.0)]
        saved = to_cents(state.monthly_usd_saved_least or 0.0)
        row(SNAPSHOTS, state.state).add(
            sum(billed), **_split(state, saved, to_cents(state.monthly_usd_saved_most or 0.0))
        )
    for name, cents in (bill or {}).items():
        row(SNAPSHOTS if name.startswith("snap-") else ELSEWHERE, USED if name.startswith("snap-") else UNKNOWN).add(
            cents, unknown=0 if name.startswith("snap-") else cents
        )
    return sorted(drawn.values(), key=lambda drawn_row: (-drawn_row.paid, drawn_row.type, drawn_row.state))


_FOR_NOTHING: Final = frozenset({*(kind.name for kind in COSTS), rows.IDLE_VOLUME})
_OF_VOLUMES: Final = _FOR_NOTHING | {rows.STOPPED, rows.COLD}


def _scale(part: int, paid: int, listed: int) -> int:
    return part if paid == listed or not listed else round(part * paid / listed)


def _split(state: StateRecord, least: int, most: int) -> dict[str, int]:
    """The parts of what an action saves: the least by who can decide it, and beyond that with proof."""
    if state.action == "keep":
        return {}
    part = "now" if state.can_be_taken else "owner" if state.waits_for_owner else "proof"
    return {part: least, "proof": (least if part == "proof" else 0) + max(0, most - least)}


def _parts(record: RecommendationRecord, state: StateRecord | None, paid: int) -> dict[str, int]:
    """The parts of a volume's money that are not used."""
    if record.kind.money is CountsAs.UNKNOWN and state is None:
        return {"unknown": paid}
    if state is not None and state.state in _FOR_NOTHING:
        return {"now" if state.can_be_taken else "owner": paid}
    if state is not None and state.state == rows.STOPPED:
        saved = to_cents(state.monthly_usd_saved_least or 0.0)
        part = "now" if state.can_be_taken else "owner"
        return {"now": saved if part == "now" else 0, "owner": paid - (saved if part == "now" else 0)}
    saved = to_cents(record.monthly_usd_saved) if record.kind.money is CountsAs.SAVED else 0
    needs_no_proof = min(saved, to_cents(record.monthly_usd_saved_drop_in))
    now = 0 if record.blockers or record.losses else needs_no_proof
    waiting = to_cents(record.wait.monthly_usd_saved) if record.wait is not None else 0
    slower = to_cents(state.monthly_usd_saved_least or 0.0) if state is not None else 0
    return {"now": now, "proof": saved - now + waiting, "owner": slower}
