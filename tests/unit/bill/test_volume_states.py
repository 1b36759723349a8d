"""States of volumes by a run's records alone: an idle volume that wakes, and Google's disks."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.clouds.published import types_by_cloud
from plimsoll.model.kinds import COLD, IDLE_VOLUME, KINDS, CountsAs
from plimsoll.model.policy import Policy
from plimsoll.reports.record import OwnerRecord, RecommendationRecord, SpecRecord
from plimsoll_bill.states.volumes import VolumeSubject, judge_volume
from tests.builders import NOW
from tests.scenes.account import audited
from tests.scenes.offers import IDLE
from tests.unit.reports.recommendations import a_profile, a_record

GOOGLE = shipped_prices("google").book("us-central1")
BALANCED = SpecRecord(type="pd-balanced", size_gib=2000, iops=None, throughput_mib_s=None)


def a_subject(record, profile=None, **fields):
    book = shipped_prices(record.provider).book(record.region)
    whole = {
        "record": record,
        "profile": profile,
        "place": None,
        "policy": Policy(),
        "now": NOW,
        "types": types_by_cloud()[record.provider],
        "listed": book,
    }
    return VolumeSubject(**{**whole, **fields})


def a_disk(action="keep", *, iops=(10.0, 40.0, 20.0), spec=BALANCED, zone="us-central1-a", **fields):
    """A disk of Google Cloud and its profile."""
    price = GOOGLE.usd_month(spec.spec)
    whole = {
        "provider": "google",
        "account": "ledger-prod",
        "region": "us-central1",
        "zone": zone,
        "name": "ledger",
        "owner": OwnerRecord(kind="hand", name=None),
        "current": spec,
        "target": None,
        "monthly_usd_now": price,
        "monthly_usd_then": price,
        "monthly_usd_saved": 0.0,
        "hosts": ["1"],
        "blockers": [],
        "pool": [],
        "stripe_set": None,
    }
    record = a_record(action, **{**whole, **fields})
    return record, a_profile(iops, of=record)


@pytest.fixture(scope="module")
def idle_records(tmp_path_factory):
    """The answers to the scenes of idle volumes, read by a whole audit of one account."""
    records, _ = audited(IDLE, tmp_path_factory.mktemp("runs") / "idle")
    return {name: RecommendationRecord.model_validate(record) for name, record in records.items()}


@pytest.mark.once
def test_an_idle_volume_that_wakes_at_the_quarters_end_is_in_no_state(idle_records):
    assert judge_volume(a_subject(idle_records["wakes-at-the-quarters-end"])) is None
    idle = judge_volume(a_subject(idle_records["idle-for-months"]))
    assert (idle.state, idle.action) == (IDLE_VOLUME, "snapshot-and-delete")
    assert "owners-word" in {lack.code for lack in idle.lacks}
    assert not [command for command in idle.commands if "delete" in command]


@pytest.mark.once
def test_what_was_not_received_for_a_week_is_never_idle(idle_records):
    assert judge_volume(a_subject(idle_records["idle-with-a-week-unknown"])) is None


def test_cold_data_on_google_is_shown_with_the_disk_that_carries_it_and_what_that_gives_up():
    state = judge_volume(a_subject(*a_disk()))
    carried = [kind.name for kind in types_by_cloud()["google"].values() if kind.name in state.target]
    assert (state.state, state.provider, state.action) == (COLD, "google", "migrate")
    assert carried
    assert state.monthly_usd_saved_least == state.monthly_usd_saved_most
    assert state.monthly_usd_saved_least == pytest.approx(
        GOOGLE.usd_month(BALANCED.spec) - GOOGLE.usd_month(replace(BALANCED.spec, type="pd-standard")), abs=0.01
    )
    words = " ".join(state.gives_up)
    assert all(part in words for part in ("latency", "durability", "its host", "snapshot"))
    assert state.way_back_hours is None
    assert state.way_back_usd is None


def test_what_a_slower_disk_does_not_carry_is_no_cold_data():
    assert judge_volume(a_subject(*a_disk(iops=(3000.0, 4000.0, 3500.0)))) is None


def test_a_regional_disk_stays_in_two_zones():
    regional = SpecRecord(type="regional-pd-balanced", size_gib=2000, iops=None, throughput_mib_s=None)
    state = judge_volume(a_subject(*a_disk(spec=regional)))
    assert state.target.startswith("regional-pd-standard ")


def test_a_disk_of_google_that_nothing_uses_has_no_command_of_another_cloud():
    (kind,) = [kind for kind in KINDS.values() if kind.money is CountsAs.COST]
    record, _ = a_disk(kind.name, hosts=[], demand=None, replay=None, ceilings=None)
    state = judge_volume(a_subject(record))
    assert state.state == kind.name
    assert state.commands == ["gcloud compute disks snapshot ledger --project ledger-prod --zone us-central1-a"]
    assert {lack.code for lack in state.lacks} >= {"owners-word", "not-read"}


def test_a_host_that_stopped_lately_is_no_state():
    record, _ = a_disk(stopped_since=(NOW - timedelta(days=3)).isoformat())
    assert judge_volume(a_subject(record)) is None
    record, _ = a_disk(stopped_since=(NOW - timedelta(days=60)).isoformat())
    assert judge_volume(a_subject(record)).action == "ask"
