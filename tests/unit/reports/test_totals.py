"""Totals: every volume seen has one outcome, and the money adds up to what the records say."""

import json
from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.errors import AccessDenied
from plimsoll.domain.metrics.reading_cost import Plan, Reading
from plimsoll.outcomes import Answered, FailedVolume, Notice, Planned, Priced, Skipped, VolumesSeen
from plimsoll.ports import FailedTarget, Target
from plimsoll.reports.record import BlockerRecord
from plimsoll.reports.totals import DIMENSIONS, RunTotals
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.strategies import records

HERE = Target(account="111122223333", region="us-east-1")
ACTIONS = sorted(every_action())


def answered(action):
    return Answered(target=HERE, recommendation=every_action()[action])


def skipped(reason="excluded by the policy: tag keep"):
    return Skipped(target=HERE, volume_id="vol-s", reason=reason)


def failed(volume_id="vol-f", reason="no metrics"):
    return FailedVolume(target=HERE, volume_id=volume_id, reason=reason)


def totals_of(*outcomes):
    return RunTotals.add_up(outcomes)


def merged(parts):
    whole = RunTotals()
    for part in parts:
        whole.merge(part)
    return whole


def a_plan(volumes):
    reading = Reading(queries=volumes * 7, calls=volumes, datapoints=volumes * 1_440)
    return Plan(volumes=volumes, least=reading, expected=reading + reading, most=reading)


outcomes = st.lists(
    st.one_of(
        st.sampled_from(ACTIONS).map(answered),
        st.sampled_from(["tag a", "tag b"]).map(skipped),
        st.builds(failed, st.text(max_size=3), st.sampled_from(["no metrics", "unknown type"])),
    ),
    max_size=30,
)


@given(outcomes)
def test_every_volume_seen_ends_in_one_answer_exclusion_or_failure(each):
    summary = totals_of(VolumesSeen(target=HERE, volumes=len(each)), *each).summary()
    volumes = summary["volumes"]
    assert volumes["reconciled"]
    assert volumes["seen"] == volumes["answered"] + sum(volumes["skipped"].values()) + volumes["failed"]
    assert sum(summary["actions"].values()) == volumes["answered"]


@given(outcomes, st.integers(1, 5))
def test_a_volume_too_many_or_too_few_is_noticed(each, more):
    assert not totals_of(VolumesSeen(target=HERE, volumes=len(each) + more), *each).is_reconciled
    assert not totals_of(VolumesSeen(target=HERE, volumes=len(each)), *each, *[skipped()] * more).is_reconciled


@given(st.lists(st.sampled_from(ACTIONS), max_size=30))
def test_the_money_is_the_sum_of_the_records(actions):
    usd = totals_of(*map(answered, actions)).summary()["monthly_usd"]
    each = [a_record(action) for action in actions]
    assert usd["now"] == pytest.approx(sum(one.monthly_usd_now for one in each), abs=0.01)
    then = sum(one.monthly_usd_then for one in each)
    assert usd["now"] - usd["saved"] + usd["more_for_upgrades"] == pytest.approx(then, abs=0.02)
    assert usd["saved"] == pytest.approx(usd["saved_drop_in"] + usd["saved_on_proof"], abs=0.011)
    assert usd["detached"] == pytest.approx(
        sum(one.monthly_usd_now for one in each if one.action == "detached"), abs=0.01
    )


@given(outcomes)
def test_the_order_of_outcomes_changes_no_count_and_no_sum(each):
    there, back = totals_of(*each).summary(), totals_of(*reversed(each)).summary()
    assert there["volumes"] == back["volumes"]
    assert there["monthly_usd"] == back["monthly_usd"]


places = st.sampled_from([Target(account=account, region="us-east-1") for account in ("1", "2")])
reasons = st.sampled_from(["no metrics", "unknown type", "throttled"])
anything = st.one_of(
    records(),
    st.builds(VolumesSeen, target=places, volumes=st.integers(0, 500)),
    st.builds(Planned, target=places, plan=st.integers(0, 99).map(a_plan)),
    st.builds(Skipped, target=places, volume_id=st.text(max_size=3), reason=reasons),
    st.builds(FailedVolume, target=places, volume_id=st.text(max_size=3), reason=reasons),
    st.builds(Notice, target=places, text=reasons),
)
parts = st.lists(st.lists(anything, max_size=6), min_size=1, max_size=6)


@given(parts, st.data())
def test_parts_add_up_to_the_whole_however_a_run_was_parted_and_in_whatever_order(each, data):
    whole = RunTotals.add_up((one for part in each for one in part), by=DIMENSIONS)
    shuffled = [RunTotals.add_up(part, by=DIMENSIONS) for part in data.draw(st.permutations(each))]
    middle = data.draw(st.integers(0, len(shuffled)))
    halves = merged([merged(shuffled[:middle]), merged(shuffled[middle:])])
    for found in (merged(shuffled), halves):
        assert found.plain == whole.plain
        assert json.dumps(found.summary()) == json.dumps(whole.summary())


@given(parts)
def test_merging_leaves_the_other_part_as_it_was(each):
    found = [RunTotals.add_up(part, by=DIMENSIONS) for part in each]
    before = [part.plain for part in found]
    merged([*found, *found])
    assert [part.plain for part in found] == before


@given(st.lists(records(), max_size=20))
def test_every_breakdown_adds_up_to_the_whole(each):
    totals = RunTotals.add_up(each, by=DIMENSIONS)
    for parts in totals.by.values():
        whole = merged(parts.values())
        assert (whole.actions, whole.unpriced, whole.blocked) == (totals.actions, totals.unpriced, totals.blocked)
        assert whole.summary()["monthly_usd"] == totals.summary()["monthly_usd"]


def test_merging_takes_as_long_as_the_part_is_large_however_large_the_whole_is():
    part = totals_of(*(failed(f"vol-{number}") for number in range(100)))
    whole = totals_of(*(failed(f"vol-{number}") for number in range(1_000)))
    listed = whole.failed_volumes[str(HERE)]["no metrics"]
    whole.merge(part)
    assert whole.failed_volumes[str(HERE)]["no metrics"] is listed
    assert whole.failed_count == 1_100


@given(parts)
def test_a_tally_comes_back_from_json_as_it_was(each):
    totals = RunTotals.add_up(outcome for part in each for outcome in part)
    assert RunTotals.parse(json.loads(json.dumps(totals.plain))) == totals


def test_a_place_that_two_parts_tell_of_is_told_of_alike_in_either_order():
    one, other = (
        totals_of(
            FailedTarget(name="1/us-east-1", error=AccessDenied(why)), Priced(target=HERE, source=why, as_of=None)
        )
        for why in ("no role", "no permission")
    )
    assert merged([one, other]).summary() == merged([other, one]).summary()
    assert merged([one, other]).failed_targets == {"1/us-east-1": "no permission"}


def test_a_blocked_saving_is_told_apart_and_still_counted():
    record = a_record("migrate")
    blocked = record.model_copy(update={"blockers": [BlockerRecord(code="x", text="y")]})
    totals = RunTotals()
    totals.add(record)
    totals.add(blocked)
    usd = totals.summary()["monthly_usd"]
    assert usd["saved"] == pytest.approx(2 * record.monthly_usd_saved)
    assert usd["saved_but_blocked"] == pytest.approx(record.monthly_usd_saved)


def test_an_upgrade_s_price_is_no_negative_saving():
    usd = totals_of(answered("upgrade"), answered("migrate")).summary()["monthly_usd"]
    assert usd["more_for_upgrades"] == -a_record("upgrade").monthly_usd_saved
    assert usd["more_for_upgrades"] > 0
    assert usd["saved"] == a_record("migrate").monthly_usd_saved


def test_a_volume_without_a_price_adds_nothing_to_the_money():
    totals = RunTotals()
    totals.add(a_record("keep", monthly_usd_now=None, monthly_usd_then=None))
    assert set(totals.summary()["monthly_usd"].values()) == {0.0}
    assert totals.answered_count == 1


def test_exclusions_are_counted_by_their_reason():
    totals = totals_of(skipped("tag a"), skipped("tag b"), skipped("tag a"))
    assert totals.summary()["volumes"]["skipped"] == Counter({"tag a": 2, "tag b": 1})
    assert not totals.is_partial


def test_a_notice_that_several_parts_of_a_target_have_is_told_once():
    notice = Notice(target=HERE, text="one")
    parts = [totals_of(notice, notice), totals_of(notice), totals_of(Notice(target=HERE, text="another"))]
    assert merged(parts).summary()["notices"] == {str(HERE): ["another", "one"]}


def test_failed_volumes_are_named_under_their_reason_and_make_a_run_partial():
    totals = totals_of(failed("vol-1"), failed("vol-2"), failed("vol-3", "unknown type"))
    assert totals.failed_count == 3
    assert totals.is_partial
    assert totals.summary()["failures"]["volumes"] == {
        str(HERE): {"no metrics": ["vol-1", "vol-2"], "unknown type": ["vol-3"]}
    }


def test_a_failed_target_makes_a_run_partial_and_is_named_with_its_error():
    totals = totals_of(FailedTarget(name="444455556666/eu-west-1", error=AccessDenied("no ec2:DescribeVolumes")))
    assert totals.is_partial
    assert totals.summary()["failures"]["targets"] == {"444455556666/eu-west-1": "no ec2:DescribeVolumes"}


def test_notices_and_prices_are_kept_by_target():
    totals = totals_of(
        Notice(target=HERE, text="one"),
        Notice(target=HERE, text="two"),
        Priced(target=HERE, source="a list", as_of=date(2026, 11, 20)),
        Priced(target=Target(account="1", region="eu-west-1"), source="none", as_of=None),
    )
    assert totals.summary()["notices"] == {str(HERE): ["one", "two"]}
    assert totals.summary()["prices"] == {
        str(HERE): {"source": "a list", "as_of": "2026-11-20"},
        "1/eu-west-1": {"source": "none", "as_of": None},
    }
    assert not totals.is_partial
