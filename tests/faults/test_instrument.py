"""The instrument itself: formats keep what they read, faults change one field, a seed means one plan, the law sees."""

import random
from datetime import UTC, datetime

import pytest

from .commands import Ended
from .findings import Findings
from .formats import Decoded, decoded, encoded
from .injector import Injected, candidates, change, turn_page
from .law import BROKEN, IDENTICAL, LIFE, NAMED, NOTED, judged
from .life import Life, life_of
from .mutations import MUTATIONS
from .places import paths_in
from .plan import Strike, plan_of

XML = (
    b'<?xml version="1.0"?><DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><volumeSet><item>'
    b"<volumeId>vol-1</volumeId><size>20</size><tagSet /></item></volumeSet></DescribeVolumesResponse>"
)
ENDED = Ended(code=3, stdout="", stderr="")
SERIES = {"MetricDataResults": [{"Id": "q0", "Timestamps": [1, 2, 3, 4], "Values": [1.0, 2.0, 3.0, 4.0]}]}
PAIRS = {"aws": [("DescribeVolumes", "null"), ("GetMetricData", "cut")], "google": [("ListTimeSeries", "hang")]}


@pytest.mark.parametrize(
    ("kind", "tree"),
    [
        ("json", {"a": [1, {"b": None}]}),
        ("cbor", {"Timestamps": [datetime(2026, 11, 20, tzinfo=UTC)], "Values": [1.5]}),
    ],
)
def test_a_format_keeps_what_it_reads(kind, tree):
    assert decoded(kind, encoded(Decoded(kind, tree))).tree == tree


def test_xml_keeps_what_it_reads():
    answer = decoded("xml", XML)
    assert answer.tree["volumeSet"][0] == {"volumeId": "vol-1", "size": "20", "tagSet": ""}
    assert decoded("xml", encoded(answer)).tree == answer.tree
    assert b'<DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">' in encoded(answer)


def strike(fault, where=0.0):
    return Strike(operation="x", fault=fault, often="always", share=1, which=0, where=where, all_items=False)


@pytest.mark.parametrize("fault", ["null", "absent", "wrong-type", "unequal-lists", "silent", "empty-list"])
def test_a_fault_changes_the_answer_and_says_where(fault):
    tree = decoded("json", encoded(Decoded("json", SERIES)))
    path, _ = change(tree, strike(fault), random.Random(1))
    assert path[0] == "MetricDataResults"
    assert tree.tree != SERIES


def test_every_field_of_an_answer_can_be_struck():
    assert paths_in(SERIES) == [
        ("MetricDataResults",),
        ("MetricDataResults", "*"),
        ("MetricDataResults", "*", "Id"),
        ("MetricDataResults", "*", "Timestamps"),
        ("MetricDataResults", "*", "Timestamps", "*"),
        ("MetricDataResults", "*", "Values"),
        ("MetricDataResults", "*", "Values", "*"),
    ]


def test_empty_pages_end_and_endless_ones_do_not():
    for fault, ends in (("empty-pages", True), ("endless-empty-pages", False), ("same-token", False)):
        turned = [turn_page(Decoded("json", {"a": [1]}), fault, step, "NextToken") for step in (0, 1, 5)]
        assert turned == [True, True, not ends], fault


def test_a_seed_means_one_plan_and_seeds_go_through_every_pair():
    plans = [plan_of(seed, PAIRS) for seed in range(3)]
    assert plans == [plan_of(seed, PAIRS) for seed in range(3)]
    assert {(one.strikes[0].operation, one.strikes[0].fault) for one in plans} == {
        pair for pairs in PAIRS.values() for pair in pairs
    }


def test_nothing_is_at_random_in_what_a_mutation_does_twice():
    for name in MUTATIONS:
        trees = [decoded("json", encoded(Decoded("json", SERIES))) for _ in range(2)]
        done = [change(tree, strike(name, where=0.5), random.Random(7)) for tree in trees]
        assert done[0] == done[1]
        assert str(trees[0].tree) == str(trees[1].tree)


def record(**changes):
    return {
        "volume_id": "vol-1",
        "name": "db",
        "account": "111111111111",
        "region": "us-east-1",
        "action": "migrate",
        "current": {"type": "gp2", "size_gib": 500, "iops": None, "throughput_mib_s": None},
        "target": {"type": "gp3", "size_gib": 500, "iops": 3000, "throughput_mib_s": 125},
        "monthly_usd_now": 50.0,
        "monthly_usd_then": 40.0,
        "monthly_usd_saved": 10.0,
        "monthly_usd_saved_drop_in": 5.0,
        "demand": {"hours_observed": 48.0, "gap_hours": 0.0, "peak_iops": 900.0},
        "reasons": ["The peak was 900 IOPS."],
        "reason_codes": ["peak-demand"],
        "cuts": ["MiB/s"],
        "losses": [],
        "blockers": [],
        **changes,
    }


def outcome(after=None, *, injected=(), unanswered=None, targets=None, before=None):
    expected = Findings(records={"vol-1": record(**(before or {}))}, run={"id": "a"})
    found = Findings(
        records={} if after is None else {"vol-1": after},
        unanswered=unanswered or {},
        run={"id": "b", "failures": {"targets": targets or {}}},
    )
    outcomes, _ = judged(expected, found, ENDED, injected)
    return outcomes["vol-1"]


def test_the_law_tells_what_became_of_a_volume():
    less = {"hours_observed": 40.0, "gap_hours": 8.0, "peak_iops": 900.0}
    lower = {"hours_observed": 48.0, "gap_hours": 0.0, "peak_iops": 800.0}
    smaller = {"type": "gp3", "size_gib": 500, "iops": 3000, "throughput_mib_s": 100}
    assert outcome(record()) == IDENTICAL
    assert outcome(record(demand=less)) == NOTED
    assert outcome(record(demand=lower, reasons=["The peak was 800 IOPS."])) == BROKEN
    assert outcome(record(demand=less, target=smaller)) == BROKEN
    assert outcome(record(action="insufficient-data", reasons=["8 of 48 hours were not observed."])) == NAMED
    same_limits = {"target": smaller | {"throughput_mib_s": 250}, "reason_codes": ["needs-no-metrics"]}
    assert outcome(record(**same_limits, cuts=[])) == NAMED
    assert outcome(record(**same_limits, cuts=[], losses=[{"code": "latency"}])) == BROKEN
    assert outcome(record(**same_limits)) == BROKEN
    gives_up = {"losses": [{"code": "consistency"}]}
    assert outcome(record(**same_limits, cuts=[], **gives_up), before=gives_up) == NAMED
    assert outcome(unanswered={"vol-1": {"reason": "its answer could not be read"}}) == NAMED
    assert outcome(unanswered={"zones/a/disks/db": {"reason": "it is in one list alone"}}) == NAMED
    assert outcome(unanswered={"zones/a/disks/web": {"reason": "it is in one list alone"}}) == BROKEN
    assert outcome(targets={"111111111111/us-east-1": "denied"}) == NAMED
    assert outcome(targets={"prices of 111111111111/us-east-1": "denied"}) == BROKEN
    assert outcome(targets={"111111111111/eu-west-1": "denied"}) == BROKEN
    assert outcome() == BROKEN
    listed = Injected("DescribeVolumes", "item-lost", ("volumeSet",), Life(frozenset({"vol-1"})))
    assert outcome(injected=[listed]) == LIFE


def test_tags_that_are_null_and_a_change_under_another_id_are_like_life():
    listed = {"volumeSet": [{"volumeId": "vol-1", "tagSet": [{"key": "Name"}]}, {"volumeId": "vol-2"}]}
    owner = [(listed["volumeSet"][0], "tagSet")]
    life = life_of(listed, strike("null"), ("volumeSet", "*", "tagSet"), owner)
    assert (life.covers("vol-1"), life.covers("vol-2")) == (True, False)
    assert life_of(listed, strike("null"), ("volumeSet", "*", "size"), owner) is None
    changes = {"volumeModificationSet": [{"volumeId": "vol-1"}, {"volumeId": "vol-2"}]}
    path = ("volumeModificationSet", "*", "volumeId")
    assert life_of(changes, strike("same-id"), path, []).covers("vol-2")
    assert life_of(listed, strike("same-id"), ("volumeSet", "*", "volumeId"), []) is None


MEMBERS = {
    "Accounts": {"Accounts": [{"Id": "1"}, {"Id": "2"}]},
    "projects": {"projects": [{"projectId": "1"}, {"projectId": "2"}]},
}


@pytest.mark.parametrize("listed", MEMBERS)
@pytest.mark.parametrize("fault", ["item-lost", "empty-list", "absent"])
def test_an_account_that_is_not_listed_is_like_life_where_its_volumes_are_nowhere(listed, fault):
    life = life_of(MEMBERS[listed], strike(fault), (listed,), [])
    left = life.after({listed: MEMBERS[listed][listed][1:]})
    assert left.covers("vol-1", account="1", lost=True)
    assert not left.covers("vol-1", account="1")
    assert not left.covers("vol-1", account="2", lost=True)
    assert life_of(MEMBERS[listed], strike("wrong-type"), (listed,), []) is None


def test_a_list_that_is_null_is_absent_in_protobuf_alone():
    assert life_of({"folders": [{"name": "folders/1"}]}, strike("null"), ("folders",), []).covers("1", lost=True)
    assert life_of(MEMBERS["projects"], strike("null"), ("projects",), []).covers("vol-1", account="1", lost=True)
    assert life_of(MEMBERS["Accounts"], strike("null"), ("Accounts",), []) is None


@pytest.mark.parametrize("fault", ["empty-text", "wrong-type"])
def test_the_value_of_a_tag_may_be_any_text_and_its_key_may_not(fault):
    tagged = {"volumeSet": [{"volumeId": "vol-1", "tagSet": [{"key": "Name", "value": "db"}]}, {"volumeId": "vol-2"}]}
    owner = [(tagged["volumeSet"][0]["tagSet"][0], "value")]
    life = life_of(tagged, strike(fault), ("volumeSet", "*", "tagSet", "*", "value"), owner)
    assert (life.covers("vol-1"), life.covers("vol-2")) == (True, False)
    assert life_of(tagged, strike(fault), ("volumeSet", "*", "tagSet", "*", "key"), owner) is None


def test_a_page_or_a_zone_that_failed_is_the_name_of_what_is_lost_of_its_place_alone():
    assert outcome(targets={"the disks of us-east-1a of 111111111111/us-east-1": "silent"}) == NAMED
    assert outcome(targets={"the disks of eu-west-1a of 111111111111/eu-west-1": "silent"}) == BROKEN


def held(*disks):
    return {"id": "1", "disks": [{"source": f"zones/z/disks/{disk}"} for disk in disks]}


@pytest.mark.parametrize(
    ("after", "covered"), [(("b", "a", "c"), {"a", "b"}), (("b", "b", "c"), set()), (("b", "d", "c"), set())]
)
def test_disks_that_only_change_places_on_their_instance_are_like_life(after, covered):
    path = ("items", "zones/z", "instances", "*", "disks", "*", "source")
    life = life_of({"items": {"zones/z": {"instances": [held("a", "b", "c")]}}}, strike("same-id"), path, [])
    found = life.after({"items": {"zones/z": {"instances": [held(*after)]}}})
    assert {name for name in "abcd" if found.covers("7", name)} == covered


def test_a_truth_value_stands_where_a_format_can_hold_one():
    points = {"timeSeries": [{"points": [{"value": {"doubleValue": 3.0}}]}]}
    assert candidates(Decoded("json", points), "truth-value")
    assert not candidates(Decoded("proto", points), "truth-value")
    assert candidates(Decoded("proto", points), "zero")
