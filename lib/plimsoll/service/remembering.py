"""Remembering: what a run's recommendations are beside those of earlier runs, kept for the next one.

The history grows with the volumes of which something has ever been recommended, and no others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any, Final

from pydantic import TypeAdapter

from plimsoll.clouds.targets import named_target
from plimsoll.domain.decisions import Holding, holding
from plimsoll.domain.history import HistoryEntry, Sighting, seen
from plimsoll.domain.volume import VolumeSpec
from plimsoll.ports import History, Target
from plimsoll.reports.money import in_cents
from plimsoll.reports.record import RecommendationRecord, SpecRecord
from plimsoll.service.events import Event, HistoryTold, recommendation_new

MOST_NEWS: Final = 1000
"""How many new recommendations are kept to be told of one by one, those that save most: more is no news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of the recommendations of some volumes; parts of a run add up to the whole in any order.

    `news` are the events of new recommendations, at most `MOST_NEWS`, those that save most first.
    """

    new: int = 0
    snoozed: int = 0
    done: int = 0
    done_now: int = 0
    saved_cents: int = 0
    news: tuple[Event, ...] = ()

    def __add__(self, other: "Remembered") -> "Remembered":
        return Remembered(
            new=self.new + other.new,
            snoozed=self.snoozed + other.snoozed,
            done=self.done + other.done,
            done_now=self.done_now + other.done_now,
            saved_cents=self.saved_cents + other.saved_cents,
            news=tuple(sorted((*self.news, *other.news), key=_by_saving)[:MOST_NEWS]),
        )

    @classmethod
    def parsed(cls, plain: Mapping[str, Any]) -> "Remembered":
        """What `plain` gave; pydantic's ValidationError where these are other values."""
        return _adapter().validate_python(dict(plain))

    @property
    def plain(self) -> dict[str, Any]:
        """The same in plain values, as JSON holds them."""
        return dict(_adapter().dump_python(self, mode="json"))

    @property
    def told(self) -> dict[str, Any]:
        """The block `history` of run.json."""
        return HistoryTold(
            new=self.new,
            snoozed=self.snoozed,
            done=self.done,
            done_now=self.done_now,
            saved_usd_month_since=self.saved_cents / 100,
        ).model_dump()


def remember(records: Iterable[RecommendationRecord], history: History, *, run_id: str, now: datetime) -> Remembered:
    """Holds a run's recommendations against the history and writes what has changed; CloudError as of the history.

    The same recommendations of the same run again write nothing and are told alike, unless people decided something
    in between.
    """
    remembered = Remembered()
    ordered = sorted(records, key=lambda one: (one.account, one.region, one.volume_id))
    for (account, region), found in groupby(ordered, key=lambda one: (one.account, one.region)):
        there, target = list(found), named_target(account, region)
        ids = [one.volume_id for one in there]
        prior, decisions = history.entries(target, ids), history.decisions(target, ids)
        held = {one: holding(decisions.get(one, ())) for one in ids}
        entries = [
            (one, seen(prior.get(one.volume_id), _sighting(one, run_id, now), held[one.volume_id])) for one in there
        ]
        kept = [(record, entry) for record, entry in entries if entry is not None]
        changed = [entry for record, entry in kept if entry != prior.get(record.volume_id)]
        if changed:
            history.write(changed)
        for record, entry in kept:
            remembered += _told(record, entry, run_id, now, held[record.volume_id])
    return remembered


def left_out(history: History, target: Target, volume_ids: Sequence[str]) -> dict[str, str]:
    """The volumes of a target that people excluded from audits, by id, each with who and why."""
    found = {one: holding(said).left_out for one, said in history.decisions(target, volume_ids).items()}
    return {one: why for one, why in found.items() if why is not None}


def _told(record: RecommendationRecord, entry: HistoryEntry, run_id: str, now: datetime, held: Holding) -> Remembered:
    new = entry.new_in(run_id, now, held)
    return Remembered(
        new=int(new),
        snoozed=int(entry.silent(now, held)),
        done=int(entry.done_on is not None),
        done_now=int(entry.done_run == run_id),
        saved_cents=in_cents(entry.done_saved_usd_month),
        news=(recommendation_new(record, run_id),) if new else (),
    )


def _sighting(record: RecommendationRecord, run_id: str, now: datetime) -> Sighting:
    current = _spec(record.current)
    target = None if record.target is None or record.target == record.current else _spec(record.target)
    return Sighting(
        account=record.account,
        region=record.region,
        volume_id=record.volume_id,
        action=record.action,
        current=current,
        target=target,
        saved_usd_month=record.monthly_usd_saved,
        run_id=run_id,
        now=now,
    )


def _spec(record: SpecRecord) -> VolumeSpec:
    return VolumeSpec(**record.model_dump())


def _by_saving(event: Event) -> tuple[float, str, str, str]:
    _kind, detail = event
    return -detail["monthly_usd_saved"], detail["account"], detail["region"], detail["volume_id"]


@cache
def _adapter() -> TypeAdapter[Remembered]:
    return TypeAdapter(Remembered)
