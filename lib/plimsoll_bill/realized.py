"""The outcome of each saving: month by month what runs promised, what the bill shows of it, and what was lost again.

Runs know what was recommended, and in which run it was first seen carried out. The bill knows what each volume cost: a
month's saving is what its former configuration would have cost at the bill's own rates, for the same hours, less that.
"""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from datetime import date, datetime
from typing import Final, NamedTuple

from plimsoll.decide.history import RunAnswer, carried_out
from plimsoll.model.kinds import CHANGES
from plimsoll.model.market import DOLLARS, PriceBook
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import owner_text
from plimsoll_bill.bill import Bill
from plimsoll_bill.reconcile import BilledVolume, VolumeKey, billed_volumes

_HALF: Final = 0.5
"""The part of a promise below which a month's saving counts as lost, and from which it counts as arrived."""


@dataclass(slots=True, kw_only=True)
class Saving:
    """A promised saving, from the run that first made it. `done` is the run that saw it carried out, None if none did.

    `successor` is a volume of the same name, size and former type that a later run has in its place.
    """

    key: VolumeKey
    owner: str
    name: str
    made: date
    usd_month: float
    before: VolumeSpec
    answer: RunAnswer
    done: date | None = None
    successor: str = ""


class LostSaving(NamedTuple):
    """A saving that a month of the bill does not show any more, with the reason."""

    month: date
    key: VolumeKey
    owner: str
    usd: float
    reason: str


@dataclass(slots=True)
class MonthOf:
    """The money of an owner in a month: all promised by then, the part that was carried out, what the bill shows."""

    promised: float = 0.0
    carried_out: float = 0.0
    realized: float = 0.0
    lost: float = 0.0


@dataclass(slots=True, kw_only=True)
class Realized:
    """The outcome of savings by month and owner. `unknown` volumes were carried out, and no price or bill shows it."""

    months: dict[tuple[date, str], MonthOf] = field(default_factory=dict)
    lost: list[LostSaving] = field(default_factory=list)
    unknown: set[VolumeKey] = field(default_factory=set)

    @property
    def totals(self) -> list[tuple[date, MonthOf]]:
        """The totals of the months, the earliest first."""
        return [(month, self.total(month)) for month in sorted({month for month, _ in self.months})]

    def total(self, month: date) -> MonthOf:
        """The money of all owners in a month."""
        parts = [astuple(figures) for (other, _), figures in self.months.items() if other == month]
        return MonthOf(*map(sum, zip(*parts, strict=True)))


def follow_savings(runs: Iterable[tuple[datetime, Iterable[RecommendationRecord]]]) -> list[Saving]:
    """The savings that runs promised, the earliest run first, and what later runs saw of them."""
    savings: dict[VolumeKey, list[Saving]] = {}
    seen = set[VolumeKey]()
    for moment, records in runs:
        day, here = moment.date(), {(record.account, record.region, record.volume_id): record for record in records}
        arrived = [record for key, record in here.items() if key not in seen] if seen else []
        for key, record in here.items():
            _follow(savings.setdefault(key, []), key, record, day)
        places = {key[:2] for key in here}
        for saving in (saving for entries in savings.values() for saving in entries):
            if saving.key not in here and saving.key[:2] in places and not saving.successor:
                saving.successor = _find_successor(saving, arrived)
        seen |= here.keys()
    return [saving for entries in savings.values() for saving in entries]


def find_realized(bill: Bill, savings: Iterable[Saving], books: Mapping[str, PriceBook]) -> Realized:
    """The outcome of savings by the months of a bill, priced by its own net rates."""
    outcome, savings, arrived = Realized(), list(savings), set[int]()
    wanted = {saving.key for saving in savings} | {(*saving.key[:2], saving.successor) for saving in savings}
    for month in bill.months():
        volumes = (volume for volume in billed_volumes(bill, month) if volume.key in wanted)
        billed = {volume.key: volume for volume in volumes if volume.currency == DOLLARS}
        for place, saving in enumerate(savings):
            if (saving.made.year, saving.made.month) > (month.year, month.month):
                continue
            figures = outcome.months.setdefault((month, saving.owner), MonthOf())
            figures.promised += saving.usd_month
            if saving.done is None:
                continue
            figures.carried_out += saving.usd_month
            saved, reason = _month_of(saving, billed, books.get(saving.key[1]))
            if saved is None:
                outcome.unknown.add(saving.key)
                continue
            figures.realized += saved
            if not reason:
                arrived.add(place)
            elif place in arrived:
                lost_usd = saving.usd_month - saved
                figures.lost += lost_usd
                outcome.lost.append(LostSaving(month, saving.key, saving.owner, lost_usd, reason))
    return outcome


def _follow(entries: list[Saving], key: VolumeKey, record: RecommendationRecord, day: date) -> None:
    """Adds what a run says of one volume: a promise that it makes anew, changes, or saw carried out."""
    last = entries[-1] if entries else None
    if last is not None and last.done is None and carried_out(last.answer, record.current.spec) is not None:
        last.done = day
    if record.action not in CHANGES or record.target is None or record.monthly_usd_saved <= 0:
        return
    if last is not None and last.before.figures == record.current.spec.figures and last.done is not None:
        return  # undone: the bill says what that costs, and the first promise stands
    saving = Saving(
        key=key,
        owner=owner_text(record.owner),
        name=record.name or "",
        made=day,
        usd_month=record.monthly_usd_saved,
        before=record.current.spec,
        answer=record.answer,
    )
    if last is None or last.done is not None:
        entries.append(saving)
    else:
        entries[-1] = replace(saving, made=last.made)


def _find_successor(saving: Saving, arrived: Iterable[RecommendationRecord]) -> str:
    """The id of the volume that was made anew in the place of one that is gone; empty if none is known."""
    place, name, spec = saving.key[:2], saving.name, saving.before
    alike = [
        record.volume_id
        for record in arrived
        if name and (record.account, record.region, record.name, record.current.spec) == (*place, name, spec)
    ]
    return alike[0] if len(alike) == 1 else ""


def _month_of(
    saving: Saving, billed: Mapping[VolumeKey, BilledVolume], book: PriceBook | None
) -> tuple[float | None, str]:
    """The money that a month shows of a saving (None: not known), and why it is lost; empty if it is not."""
    volume = billed.get(saving.key)
    if volume is None:
        successor = billed.get((*saving.key[:2], saving.successor)) if saving.successor else None
        if successor is None:
            return None, ""
        return 0.0, f"made anew as {saving.successor}, {' and '.join(successor.types)}"
    spec = replace(saving.before, size_gib=max(1, round(volume.size_gib)))
    usd = None if book is None else book.usd_month(spec)
    if usd is None:
        return None, ""
    saved = (usd - volume.net) * volume.share
    is_lost = saved < _HALF * saving.usd_month * volume.share
    return saved, f"billed as {' and '.join(volume.types)} again" if is_lost else ""
