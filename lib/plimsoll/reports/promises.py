"""Promises in a run: what its records say of those that earlier runs made, and what people are told of that."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import numpy as np

from plimsoll.domain.headroom import LESS_RISK
from plimsoll.domain.kinds import CHANGES, SILENT, CountsAs
from plimsoll.domain.risk.promise_review import Review, Stay, Throttling, review_promises
from plimsoll.domain.risk.tally import BROKEN_PCT, PromiseTally
from plimsoll.domain.risk.watch import Promise, Promised
from plimsoll.reports.fleet_risk import people
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import Matched
from plimsoll.reports.run_record import KeptPromises, RunRecord
from plimsoll.reports.wording import count_of


def review_of(record: RecommendationRecord, profile: DemandProfileRecord | None, now: datetime) -> Review:
    """A run's review of a volume as of `now`. Nothing certain is known of one that could not be judged."""
    is_judged = record.kind.money is not CountsAs.UNKNOWN
    return Review(
        at_s=int(now.timestamp()),
        spec=record.current.spec,
        offered=_offered_promise(record, now),
        silent=record.action in SILENT,
        stays=list(_stays(record)),
        throttling=_throttling(profile) if profile is not None and is_judged else None,
    )


def check_promises(matches: Iterable[Matched], promised: dict[str, Promised], now: datetime) -> PromiseTally:
    """The tally of a run's volumes, by what earlier runs promised of them.

    `promised` has these promises by volume id. Afterwards it has what is promised after this run in their place.
    """
    tally = PromiseTally()
    for record, profile in matches:
        after = review_promises(promised.pop(record.volume_id, None), review_of(record, profile, now))
        if after is not None:
            promised[record.volume_id] = after
            tally.add(after.watch)
    return tally


def promises_in_run(tally: PromiseTally) -> dict[str, Any]:
    """The part of run.json on promises; empty if no changed volume was seen again."""
    if not tally.volumes:
        return {}
    return {
        "promises": {
            "changed": tally.volumes,
            "throttled": tally.throttled,
            "expected": round(tally.expected, 2),
            "chance_pct": round(tally.chance_pct, 4),
            "broken": tally.is_broken,
            "observed_pct": round(min(100.0, 100 * tally.observed_s / max(1, tally.promised_s)), 1),
        }
    }


def kept_promises(run: RunRecord) -> str:
    """The numbers of changed volumes that throttled and were expected to; empty if a run saw none again."""
    return " ".join(_promise_sentences(run.promises)) if run.promises else ""


def _promise_sentences(kept: KeptPromises) -> Iterator[str]:
    throttled, expected = kept.throttled, kept.expected
    of = count_of(kept.changed, "changed volume")
    shown = people(expected)
    yield f"Of {of} {throttled or 'none'} throttled; {shown} {'was' if shown == '1' else 'were'} expected."
    if kept.broken:
        yield (
            f"Promises are broken: chance alone does that in {BROKEN_PCT:g} % of cases at most. "
            f"Look at the throttled volumes, set {LESS_RISK}, and learn from your own fleet."
        )
    if kept.observed_pct < 100:
        yield f"{kept.observed_pct:.0f} % of the promised time has been watched."


def _offered_promise(record: RecommendationRecord, now: datetime) -> Promise | None:
    """The promise that a recommendation makes; None where it makes none."""
    risk, target = record.risk, record.target
    if risk is None or risk.promised_pct is None or target is None or record.action not in CHANGES:
        return None
    return Promise(
        before=record.current.spec,
        target=target.spec,
        promised_pct=risk.promised_pct,
        minutes=risk.minutes,
        days=risk.days,
        made_s=int(now.timestamp()),
    )


def _stays(record: RecommendationRecord) -> Iterator[Stay]:
    for epoch in record.epochs:
        if epoch.spec is not None:
            yield Stay(start_s=_seconds(epoch.start), end_s=_seconds(epoch.end), spec=epoch.spec.spec)


def _seconds(written: str) -> int:
    return int(datetime.fromisoformat(written).timestamp())


def _throttling(profile: DemandProfileRecord) -> Throttling:
    lengths_s = np.array(profile.length_s, dtype=np.int64)
    return Throttling(
        starts_s=profile.start_s + np.cumsum(lengths_s) - lengths_s,
        lengths_s=lengths_s,
        minutes=np.array(profile.throttled_minutes),
        observed=np.array([rate is not None for rate in profile.iops], dtype=np.bool_),
    )
