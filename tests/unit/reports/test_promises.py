"""Promises from run to run: a simulated life, checked by the command line's ledger and by the service's history."""

from datetime import timedelta

import numpy as np
import pytest

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.learned_table import load_table
from plimsoll.model.policy import ANY_RISK_PCT, Policy
from plimsoll.model.volume import Modification, VolumeSpec
from plimsoll.orders import Order
from plimsoll.reports.promises import check_promises, promises_in_run
from plimsoll.reports.run_reader import matched_records, read_records, read_run
from plimsoll.reports.story.run import changes_since
from plimsoll.reports.wording import kept_promises
from plimsoll.run import carry_out
from plimsoll_service.history_update import remember
from tests.builders import NOW, TYPES, US_EAST_1, a_host, a_tariff, a_volume, some_sums
from tests.golden import assert_golden
from tests.in_memory.ports import MemoryCatalog, MemoryInventory, MemoryMetrics, MemoryPrices
from tests.in_memory.service import MemoryHistory
from tests.unit.reports.plain_runs import a_run_record

FIRST = NOW.replace(hour=0)
CHANGED = FIRST + timedelta(days=1, hours=10)
POLICY = Policy(
    headroom_pct=30, risk_pct=ANY_RISK_PCT, memory_days=0, lookback_days=14, size_on="average", growth_days=0
)
WAS = VolumeSpec(type="gp3", size_gib=500, iops=16_000, throughput_mib_s=125)
QUIET, LOUD = 2, 1


def sums_of(number, become):
    """4,000 operations a second; of a loud volume since the change as many as it carries, for half an hour a week."""
    minutes = 60 * 24 * 60
    begun = FIRST - timedelta(days=20)
    ops = np.full(minutes, 4_000.0)
    if number >= QUIET and become is not None:
        for week in range(5):
            first = int((CHANGED + timedelta(days=7 * week, hours=3) - begun).total_seconds() // 60)
            ops[first : first + 30] = become.iops
    done = {"read_ops": 60 * ops, "read_bytes": 60 * ops * 8 * 1024}
    return some_sums(start_s=int(begun.timestamp()), buckets=minutes, **done)


def ports_of(now, become):
    """The volumes as they are at a time: changed, once that is over."""
    volumes = []
    for number in range(QUIET + LOUD):
        is_changed = become is not None and now > CHANGED
        spec = become if is_changed else WAS
        change = Modification(state="completed", started=CHANGED, original=WAS) if is_changed else None
        volumes.append(
            a_volume(
                "gp3",
                500,
                iops=spec.iops,
                throughput_mib_s=spec.throughput_mib_s,
                id=f"vol-{number}",
                on=a_host("r5b.24xlarge", id=f"i-{number}"),
                modification=change,
            )
        )
    return AuditPorts(
        query_cost=a_tariff(),
        inventory=MemoryInventory(given=volumes),
        metrics=MemoryMetrics(given={one.id: sums_of(number, become) for number, one in enumerate(volumes)}),
        prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
        catalog=MemoryCatalog(types=TYPES, provider="aws"),
        envelopes=(),
        learned=load_table(),
    )


def audited(folder, now, become=None):
    """A run with the ledger beside it, as the command line and the Python API make it."""
    ledger, order = Ledger.at(folder.parent / "ledger.json"), Order(folder=folder, scope={}, policy=POLICY, now=now)
    carry_out(order, [ports_of(now, become)], lambda _progress, _outcome: None, promised=ledger.promised)
    ledger.save(now)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folders of a first run and of five more, a week apart; what the first recommends is done a day later."""
    base = tmp_path_factory.mktemp("life")
    audited(base / "0", FIRST)
    become = read_records(base / "0")[0].target.spec
    assert become.iops < WAS.iops
    for week in range(1, 6):
        audited(base / str(week), FIRST + timedelta(weeks=week), become)
    return [(base / str(week), FIRST + timedelta(weeks=week)) for week in range(6)]


def by_the_ledger(runs, path):
    for folder, now in runs:
        ledger = Ledger.at(path)
        yield promises_in_run(check_promises(matched_records(folder, None), ledger.promised, now))
        ledger.save(now)


def by_the_history(runs):
    history = MemoryHistory()
    for folder, now in runs:
        totals, _news = remember(matched_records(folder, None), history, run_id=folder.name, now=now)
        yield promises_in_run(totals.promises)


def test_a_life_that_throttles_after_the_change_is_counted_and_the_service_says_the_same(runs, tmp_path):
    found = list(by_the_ledger(runs, tmp_path / "ledger.json"))
    assert found[0] == {}
    assert [one["promises"]["changed"] for one in found[1:]] == [QUIET + LOUD] * 5
    last = found[-1]["promises"]
    (risk,) = {record.risk.promised_pct for record in read_records(runs[0][0])}
    assert last["throttled"] == LOUD
    assert last["expected"] == round((QUIET + LOUD) * risk / 100, 2)
    assert last["observed_pct"] > 97
    shares = [one["promises"]["observed_pct"] for one in found[1:]]
    assert shares == sorted(shares)
    assert list(by_the_history(runs)) == found
    assert [read_run(folder).plain.get("promises") for folder, _now in runs] == [one.get("promises") for one in found]


def test_a_run_that_is_checked_twice_tells_the_same(runs, tmp_path):
    once = list(by_the_ledger(runs, tmp_path / "once.json"))
    twice = list(by_the_ledger([run for run in runs for _ in range(2)], tmp_path / "twice.json"))
    assert twice == [one for one in once for _ in range(2)]


TOLD = {"changed": 214, "throttled": 2, "expected": 4.0, "chance_pct": 90.8, "broken": False, "observed_pct": 100.0}


CHANGES = (
    {},
    {"changed": 1, "throttled": 0, "expected": 0.2},
    {"expected": 12.34},
    {"broken": True, "chance_pct": 0.02},
    {"observed_pct": 40.0},
)


def test_a_report_says_it_in_sentences_and_what_to_do_where_promises_are_broken():
    said = [kept_promises(a_run_record(promises={**TOLD, **changes})) for changes in CHANGES]
    assert_golden("promises", "\n".join(said) + "\n")


def test_nothing_is_said_where_nothing_was_changed_and_seen_again():
    assert kept_promises(a_run_record()) == changes_since(a_run_record()) == ""
    run = a_run_record(promises=TOLD)
    assert changes_since(run) == kept_promises(run)
