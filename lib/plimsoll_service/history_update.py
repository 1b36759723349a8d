"""The update of the history: a run's recommendations are compared with earlier ones, and kept for the next run.

The history grows with the volumes of which something has ever been recommended, and no others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Final

from plimsoll.clouds.targets import named_target
from plimsoll.decide.history import HistoryEntry, Review, Sighting, review_promises, seen
from plimsoll.model.people import Holding, find_holding
from plimsoll.ports import HistoryStore, Target
from plimsoll.reports.promises import review_of
from plimsoll.reports.record import RecommendationRecord, to_cents
from plimsoll.reports.run_reader import Matched
from plimsoll.reports.sorting import Largest
from plimsoll.reports.totals import RunTotals
from plimsoll_service.events import ServiceEvent, recommendation_event

MOST_NEWS: Final = 1000
"""The most new recommendations that are announced one by one: those that save most."""

_Reviewed = tuple[RecommendationRecord, Review]


def remember(
    volumes: Iterable[Matched], history: HistoryStore, *, run_id: str, now: datetime
) -> tuple[RunTotals, list[ServiceEvent]]:
    """Compares a run's recommendations with the history and writes the changes. Raises CloudError if the history does.

    Each comes with the profile of its demand, by which the promises of earlier runs are checked. Returns the history's
    totals with what the volumes teach, and the events of the new recommendations. The same recommendations of the same
    run write nothing the second time, and return the same, unless people decided something in between.
    """
    totals, news = RunTotals(), empty_news()
    reviews = ((totals.learn(record), review_of(record, profile, now)) for record, profile in volumes)
    ordered = sorted(reviews, key=lambda pair: (*_place(pair), pair[0].volume_id))
    for (account, region), group in groupby(ordered, key=_place):
        pairs, target = list(group), named_target(account, region)
        ids = [record.volume_id for record, _review in pairs]
        prior, decisions = history.entries(target, ids), history.decisions(target, ids)
        held = {volume_id: find_holding(decisions.get(volume_id, ())) for volume_id in ids}
        latest = max(prior.values(), key=lambda entry: entry.last_seen, default=None)
        entries = [
            (pair[0], _entry(pair, prior.get(pair[0].volume_id), latest, held[pair[0].volume_id], run_id, now))
            for pair in pairs
        ]
        kept = [(record, entry) for record, entry in entries if entry is not None]
        changed = [entry for record, entry in kept if entry != prior.get(record.volume_id)]
        if changed:
            history.write(changed)
        for record, entry in kept:
            new = _count(totals, entry, run_id, now, held[record.volume_id])
            if new:
                announce(news, [recommendation_event(record, run_id)])
    return totals, news.items


def empty_news() -> Largest[ServiceEvent]:
    """New recommendations to announce: none yet."""
    return Largest(most=MOST_NEWS)


def announce(news: Largest[ServiceEvent], events: Iterable[ServiceEvent]) -> None:
    """Adds new recommendations to those to announce."""
    for event in events:
        _kind, detail = event
        news.add(detail["monthly_usd_saved"], news_name(event), event)


def news_name(event: ServiceEvent) -> str:
    """The full name of a new recommendation's volume."""
    _kind, detail = event
    return f"{detail['account']}/{detail['region']}/{detail['volume_id']}"


def excluded_volumes(history: HistoryStore, target: Target, volume_ids: Sequence[str]) -> dict[str, str]:
    """The volumes of a target that people excluded from audits, by id, each with who and why."""
    reasons = {
        volume_id: find_holding(decisions).exclusion_text
        for volume_id, decisions in history.decisions(target, volume_ids).items()
    }
    return {volume_id: why for volume_id, why in reasons.items() if why is not None}


def _place(volume: _Reviewed) -> tuple[str, str]:
    record, _review = volume
    return record.account, record.region


def _entry(
    volume: _Reviewed,
    prior: HistoryEntry | None,
    latest: HistoryEntry | None,
    held: Holding,
    run_id: str,
    now: datetime,
) -> HistoryEntry | None:
    """A volume's entry after a run, with its promises since. None if nothing was ever recommended.

    `latest` is the entry of the target's volume that was seen last.
    """
    record, review = volume
    rule_before = _rule_before(record, latest) if prior is None else prior.rule
    entry = seen(prior, replace(_sighting(record, run_id, now), rule_before=rule_before), held)
    if entry is None:
        return None
    promised = None if prior is None else prior.promised
    return replace(entry, promised=review_promises(promised, review))


def _rule_before(record: RecommendationRecord, latest: HistoryEntry | None) -> int | None:
    """The rule of the last answer about a volume that never had a recommendation. None if it is newer than the last
    audit."""
    if latest is None or record.created is None or datetime.fromisoformat(record.created) >= latest.last_seen:
        return None
    return latest.rule


def _count(totals: RunTotals, entry: HistoryEntry, run_id: str, now: datetime, held: Holding) -> bool:
    new = entry.new_in(run_id, now, held)
    totals.new += new
    totals.by_rule += entry.ruled_in(run_id, now, held)
    totals.snoozed += entry.silent(now, held)
    totals.done += entry.done_on is not None
    totals.done_now += entry.done_run == run_id
    totals.done_saved_cents += to_cents(entry.done_saved_usd_month)
    if entry.promised is not None:
        totals.promises.add(entry.promised.watch)
    return new


def _sighting(record: RecommendationRecord, run_id: str, now: datetime) -> Sighting:
    target = None if record.target is None or record.target == record.current else record.target.spec
    return Sighting(
        account=record.account,
        region=record.region,
        volume_id=record.volume_id,
        action=record.action,
        current=record.current.spec,
        target=target,
        drop_in=None if record.drop_in is None else record.drop_in.spec.spec,
        saved_usd_month=record.monthly_usd_saved,
        run_id=run_id,
        now=now,
    )
