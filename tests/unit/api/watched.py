"""Volumes as a run knows them: their records and profiles, decided by the domain of a demand that tests choose."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plimsoll.decide.answer import NO_CHANGE
from plimsoll.demand.demand import Demand
from plimsoll.demand.profile import profile_of
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume
from plimsoll.policy_file import dump_policy
from plimsoll.reports.answers import profile_record, record_of
from plimsoll.reports.record import FIRST_PROVIDER, DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_folder import RunFolder
from plimsoll.reports.run_reader import UnansweredRecord
from plimsoll.reports.totals import RunTotals
from tests.builders import NOW, a_demand, a_policy, a_volume, decision
from tests.unit.reports.plain_runs import a_plain_run

MIDNIGHT_S = int(NOW.timestamp()) // 86_400 * 86_400 - 2 * 86_400
"""The beginning of every demand here: two days."""


class Watched(NamedTuple):
    """A volume's record, and the profile of its demand."""

    record: RecommendationRecord
    profile: DemandProfileRecord


def watch(
    volume: Volume, iops: float | Sequence[float], mib_s: float | Sequence[float], policy: Policy | None = None
) -> Watched:
    """A volume of that demand by the minute: a number all the time, or a list from midnight on."""
    return watch_demand(volume, a_demand(iops, mib_s, buckets=2 * 1440, start_s=MIDNIGHT_S), policy)


def watch_demand(volume: Volume, demand: Demand, policy: Policy | None = None) -> Watched:
    recommendation = decision(volume, demand, policy)
    none = np.zeros(len(demand.observed), dtype=np.bool_)
    return Watched(
        record_of(recommendation, NO_CHANGE, provider=FIRST_PROVIDER),
        profile_record(volume, profile_of(demand, throttled=none, host_bound=none)),
    )


def write_run(
    folder: Path, watched: Iterable[Watched], unanswered: Iterable[UnansweredRecord] = (), **changes: Any
) -> Path:
    """A run of these volumes."""
    totals = RunTotals()
    with RunFolder(folder) as written:
        for record, profile in watched:
            totals.seen += 1
            totals.add(record)
            written.add(record, profile)
        for volume in unanswered:
            totals.seen += 1
            written.leave_out(volume)
        written.describe(a_plain_run(totals, id=folder.name, policy=dump_policy(a_policy()), **changes))
    return folder


def a_busy_minute(rate: float, usual: float, minute: int = 1500) -> list[float]:
    """A rate that is usual but for one minute: by default at 01:00 of the second day."""
    return [usual] * minute + [rate] + [usual] * (2 * 1440 - minute - 1)


LEDGER = a_volume("gp3", 500, iops=10_000, throughput_mib_s=500, id="vol-0a00000000000001")
LOGS = a_volume("gp2", 500, id="vol-0a00000000000002")
ORDERS = a_volume("io2", 1000, iops=20_000, id="vol-0a00000000000003")
ROOT = a_volume("gp3", 100, id="vol-0a00000000000004")
SCRATCH = a_volume("gp2", 500, id="vol-0a00000000000005")


def the_fleet() -> list[Watched]:
    """Volumes: over-provisioned, of an old type, busy for a minute, as small as they are sold, and old again."""
    return [
        watch(LEDGER, 200.0, 10.0),
        watch(LOGS, 200.0, 10.0),
        watch(ORDERS, a_busy_minute(12_400, 2_000), 100.0),
        watch(ROOT, 100.0, 5.0),
        watch(SCRATCH, 200.0, 10.0),
    ]
