"""One picture of what is paid: by type and state, what of it is used, can be taken now, needs proof, or its owner.

Money is in cents, so that the parts are the whole. What a thing costs is a figure or not known: it is never 0 for want
of a price, and what is not known is counted and in no sum.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from plimsoll.model.kinds import COLD, COSTS, FAST_RESTORE, IDLE_VOLUME, NO_ARCHIVE, STOPPED, CountsAs
from plimsoll.model.market import DOLLARS
from plimsoll.reports.record import RecommendationRecord, StateRecord, to_cents
from plimsoll.reports.run_record import PAID_PARTS, PaidRecord
from plimsoll_bill.states.billed import BilledMonth
from plimsoll_bill.states.records import BLOCKED, OWNERS_WORD

SNAPSHOTS: Final = "snapshots"
ELSEWHERE: Final = "not in this run"
NOT_PLACED: Final = "rows without a place"
USED: Final = "used"
UNKNOWN: Final = "not known"

_FOR_NOTHING: Final = frozenset({*(kind.name for kind in COSTS), IDLE_VOLUME})
_OF_VOLUMES: Final = _FOR_NOTHING | {STOPPED, COLD}
_Parts = Mapping[str, int]
_Costs = Mapping[str, float | None]


class PaidPicture:
    """The picture while it is drawn. `left` is what a bill says was paid and no row has yet; None without a bill."""

    def __init__(self, bill: BilledMonth | None) -> None:
        self.left = None if bill is None else dict(bill.cents)
        self.rows: dict[tuple[str, str, str], Counter[str]] = {}

    def find_paid(self, name: str, listed: int | None) -> int | None:
        """The cents that were paid for a thing: by the bill where there is one, else its listed ones."""
        return listed if self.left is None else self.left.pop(name, None)

    def add(
        self, kind: str, state: str, paid: int | None, parts: _Parts, *, count: int = 1, currency: str = DOLLARS
    ) -> None:
        """Adds things and their parts; what is left is used. No part is more than what the others leave."""
        row = self.rows.setdefault((kind, state, currency), Counter())
        row["count"] += count
        if paid is None:
            row["unpriced"] += count
            return
        left = paid
        for name in ("now", "proof", "owner", "unknown"):
            part = max(0, min(parts.get(name, 0), left))
            row[name] += part
            left -= part
        row["used"] += left
        row["paid"] += paid

    def list_rows(self) -> list[PaidRecord]:
        """The rows, dollars first, the dearest first."""
        drawn = [
            PaidRecord(
                type=kind,
                state=state,
                currency=currency,
                count=row["count"],
                unpriced=row["unpriced"],
                **{name: row[name] / 100 for name in PAID_PARTS},
            )
            for (kind, state, currency), row in self.rows.items()
        ]
        return sorted(drawn, key=lambda row: (row.currency != DOLLARS, row.currency, -row.paid, row.type, row.state))


def draw_picture(
    records: Iterable[RecommendationRecord],
    states: Sequence[StateRecord],
    snapshots: Iterable[tuple[str, float | None]],
    bill: BilledMonth | None = None,
) -> list[PaidRecord]:
    """The rows of the picture. With a bill its sum is the bill.

    `snapshots` are all that were read, with what each is known to cost. Without a bill volumes cost what the run says.
    """
    picture, by_id, costs = PaidPicture(bill), dict[str, StateRecord](), dict(snapshots)
    for state in states:
        if state.state not in {FAST_RESTORE, NO_ARCHIVE}:
            by_id.update(dict.fromkeys(set(state.ids) - by_id.keys(), state))
    for record in records:
        _add_volume(picture, record, by_id.get(record.volume_id))
    for name, usd in costs.items():
        if name not in by_id:
            picture.add(SNAPSHOTS, USED, picture.find_paid(name, _cents(usd)), {})
    for state in states:
        if state.state == FAST_RESTORE:
            paid = picture.find_paid(f"{state.ids[0]} fast", _cents(state.monthly_usd))
            picture.add(SNAPSHOTS, state.state, paid, _split(state, paid or 0))
        elif state.state not in _OF_VOLUMES | {NO_ARCHIVE}:
            _add_group(picture, state, [name for name in state.ids if by_id[name] is state], costs)
    if bill is not None:
        _add_others(picture, bill)
    return picture.list_rows()


def _add_others(picture: PaidPicture, bill: BilledMonth) -> None:
    """Adds billed things that no run has, other currencies, and rows of the bill that are in no sum."""
    for name, cents in (picture.left or {}).items():
        if name.startswith("snap-"):
            picture.add(SNAPSHOTS, USED, cents, {})
        else:
            picture.add(ELSEWHERE, UNKNOWN, cents, {"unknown": cents})
    for currency, kind, rows, cents in bill.foreign:
        picture.add(kind, UNKNOWN, cents, {"unknown": cents}, count=rows, currency=currency)
    if bill.unplaced:
        picture.add(NOT_PLACED, UNKNOWN, None, {}, count=bill.unplaced)


def _cents(usd: float | None) -> int | None:
    return None if usd is None else to_cents(usd)


def _add_volume(picture: PaidPicture, record: RecommendationRecord, state: StateRecord | None) -> None:
    listed = _cents(record.monthly_usd_now)
    paid = picture.find_paid(record.volume_id, listed)
    unstated = UNKNOWN if record.kind.money is CountsAs.UNKNOWN else USED
    name = unstated if state is None else state.state
    if paid is None or listed is None:  # what is not priced has no parts: all that is billed for it is unknown
        picture.add(record.current.type, name, paid, {"unknown": paid or 0})
        return
    factor = paid / listed if listed else 1.0
    parts = {key: round(part * factor) for key, part in _volume_parts(record, state, listed).items()}
    picture.add(record.current.type, name, paid, parts)


def _add_group(picture: PaidPicture, state: StateRecord, names: Sequence[str], costs: _Costs) -> None:
    """Adds the snapshots of a state: those of unknown cost are counted apart, and the parts are those of the others."""
    paid = [picture.find_paid(name, _cents(costs.get(name))) for name in names]
    known = [cents for cents in paid if cents is not None]
    if known:
        picture.add(SNAPSHOTS, state.state, sum(known), _split(state, sum(known)), count=len(known))
    if len(known) < len(names):
        picture.add(SNAPSHOTS, state.state, None, {}, count=len(names) - len(known))


def _decider(state: StateRecord) -> str:
    """The part of the picture that an action is: to be taken now, by the owner's word, or with proof."""
    if not state.lacks and not state.gives_up:
        return "now"
    is_owners = bool(state.gives_up) or any(lack.code in {OWNERS_WORD, *BLOCKED} for lack in state.lacks)
    return "owner" if is_owners else "proof"


def _split(state: StateRecord, paid: int) -> _Parts:
    """The parts of what an action saves: the least by who can decide it, and beyond that with proof."""
    least, most = _cents(state.monthly_usd_saved_least), _cents(state.monthly_usd_saved_most)
    if state.action == "keep" or least is None or most is None:
        return {} if state.action == "keep" else {"unknown": paid}
    part, beyond = _decider(state), max(0, most - least)
    return {"proof": least + beyond} if part == "proof" else {part: least, "proof": beyond}


def _volume_parts(record: RecommendationRecord, state: StateRecord | None, paid: int) -> _Parts:
    """The parts of a volume's money that are not used."""
    if state is None and record.kind.money is CountsAs.UNKNOWN:
        return {"unknown": paid}
    if state is not None and state.state in _FOR_NOTHING:
        return {"now" if _decider(state) == "now" else "owner": paid}
    slower = 0 if state is None else _cents(state.monthly_usd_saved_least) or 0
    if state is not None and state.state == STOPPED:
        now = slower if _decider(state) == "now" else 0
        return {"now": now, "owner": paid - now}
    saved = to_cents(record.monthly_usd_saved) if record.kind.money is CountsAs.SAVED else 0
    now = 0 if record.blockers or record.losses else min(saved, to_cents(record.monthly_usd_saved_drop_in))
    waiting = to_cents(record.wait.monthly_usd_saved) if record.wait is not None else 0
    return {"now": now, "proof": saved - now + waiting, "owner": slower}
