"""What holds of every decision on a stripe set, and examples of what is said of one."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change, InsufficientData, Keep, Upgrade
from plimsoll.decide.case_maker import case_of, clip_to_record, find_epochs_on_record
from plimsoll.decide.decide import answer
from plimsoll.decide.groups import Unit
from plimsoll.decide.stripes import decide_together, make_units, share_highest_load
from plimsoll.demand.demand import IOPS, scale_demand
from plimsoll.demand.host_room import host_loads
from plimsoll.demand.load import peaks
from plimsoll.model.kinds import dollars
from plimsoll.model.volume import Modification, ceiling_of_hosts
from tests.builders import NOW, TYPES, a_basis, a_demand, a_host, a_policy, a_stripe_set, a_volume, ceiling_of
from tests.profiles import examples
from tests.unit.domain.strategies import HOST_FIGURES, policies

LAW = settings(max_examples=examples(60), deadline=None)
LEVELS = st.sampled_from(["raid0", "striped", "linear", "raid1", "raid5"])


def clipped(demand, ceiling):
    """A demand no higher than its ceiling, where that is believed."""
    return scale_demand(demand, clip_to_record(demand, find_epochs_on_record(demand, ceiling)))


@st.composite
def rates(draw, most, buckets):
    """Rates of whole sums of a minute up to a figure."""
    shares = draw(st.lists(st.floats(0, 1), min_size=buckets, max_size=buckets))
    return [int(share * most * 60) / 60 for share in shares]


@st.composite
def sets(draw, *, most=4, alike=None, types=("gp2", "gp3", "io2"), level=LEVELS):
    """A stripe set: its volumes on one host, a demand for each that the host could have carried of that one."""
    count, buckets = draw(st.integers(1, most)), draw(st.integers(1, 6))
    host = a_host(draw(st.sampled_from(sorted(set(HOST_FIGURES) - {"t2.micro", "m4.large"}))))
    alike = draw(st.booleans()) if alike is None else alike
    specs = [
        {
            "type": (kind := draw(st.sampled_from(types))),
            "size_gib": draw(st.integers(100, 2000)),
            "iops": None if kind == "gp2" else draw(st.integers(3000, 16_000)),
            "throughput_mib_s": draw(st.integers(125, 700)) if kind == "gp3" else None,
        }
        for _ in range(count)
    ]
    volumes = [
        a_volume(
            spec["type"],
            spec["size_gib"],
            iops=spec["iops"],
            throughput_mib_s=spec["throughput_mib_s"],
            on=host,
            id=f"vol-{number}",
        )
        for number, spec in enumerate([specs[0]] * count if alike else specs)
    ]
    carried = host.ceiling
    demands = {
        volume.id: a_demand(
            iops=draw(rates(min(16_000, carried.iops), buckets)),
            throughput_mib_s=draw(rates(min(700, carried.throughput_mib_s), buckets)),
            iops_exceeded=draw(st.lists(st.sampled_from([False, False, True]), min_size=buckets, max_size=buckets)),
        )
        for volume in volumes
    }
    return a_stripe_set(*(volume.id for volume in volumes), level=draw(level)), volumes, demands


def cases_of(volumes, demands, policy):
    load = host_loads(volumes, demands)["i-1"]
    context = a_basis(policy)
    return [case_of(volume, demands[volume.id], load, context) for volume in volumes], load


def decided(stripes, volumes, demands, policy=None, *, held=()):
    """The answers of a set by id; `held` are (id, reason) of volumes that are not decided on."""
    own = [volume for volume in volumes if volume.id not in dict(held)]
    cases, load = cases_of(own, demands, policy or a_policy())
    return decide_together(Unit(stripes=stripes, volumes=volumes, held=dict(held)), cases, load)


def bought(found):
    return found.target.spec if isinstance(found, Change) else found.volume.spec


@given(sets(), policies())
@LAW
def test_all_volumes_of_a_set_become_the_same_or_none_is_changed(some, policy):
    found = decided(*some, policy)
    changes = [one for one in found.values() if isinstance(one, Change)]
    if changes:
        assert len({type(one) for one in changes}) == 1
        assert len({bought(one).type for one in found.values()}) == 1
        assert len({one.blockers == () for one in changes}) == 1
    assert len(found) == len(some[1])


@given(sets(alike=True), policies())
@LAW
def test_volumes_that_are_alike_get_one_action(some, policy):
    assert len({one.action for one in decided(*some, policy).values()}) == 1


@given(sets(most=1), policies())
@LAW
def test_a_set_of_one_is_decided_as_the_volume_alone(some, policy):
    stripes, volumes, demands = some
    (case,), _ = cases_of(volumes, demands, policy)
    alone, found = answer(case), decided(stripes, volumes, demands, policy)["vol-0"]
    assert found.reasons[: len(alone.reasons)] == alone.reasons
    assert replace(found, stripe_set=None, reasons=()) == replace(alone, reasons=())


def test_what_a_member_did_above_its_configuration_is_none_of_its_neighbors():
    """14,000 IOPS of 13,334 in a minute: the host's 18,750 hold it down to 18,134, not to 18,750 - 666."""
    volume = a_volume("io2", 125, iops=13_334, on=a_host("m5.2xlarge"), id="vol-0")
    demands = {"vol-0": a_demand(iops=[0, 0, 0, 0, 0, 14_000], throughput_mib_s=0)}
    policy = a_policy(headroom_pct=36, min_hours=0)
    found = decided(a_stripe_set("vol-0"), [volume], demands, policy)["vol-0"]
    (case,), _ = cases_of([volume], demands, policy)
    assert found.target.need.iops == pytest.approx(13_334 * 1.36)
    assert found.target.need == answer(case).target.need


def needs_of(stripes, volumes, demands, policy):
    """The highest that each member of a set has to carry, by type."""
    cases, load = cases_of(volumes, demands, policy)
    case = share_highest_load(cases, load, parts=len(volumes) if stripes.even else 1)[0]
    return {name: peaks(case.load.reducing, kind.accounting) for name, kind in TYPES.items()}


@given(sets(), policies())
@LAW
def test_a_set_never_gets_less_than_a_volume_of_it_was_seen_to_do(some, policy):
    stripes, volumes, demands = some
    hosts = ceiling_of_hosts(volumes[0])
    seen = [clipped(demands[one.id], ceiling_of(one)) for one in volumes if one.id in demands]
    for one in decided(stripes, volumes, demands, policy).values():
        measured = not isinstance(one, Change) or one.measured  # else it keeps all limits, and nothing rests on demand
        for offer in one.comparison.offers:
            if offer.feasible and measured:
                judged = offer.judged_ceiling  # a resource that stays as it is rests on no demand
                for demand in seen:
                    assert judged.iops >= min(hosts.iops, demand.iops.max()) - 1e-5
                    most = min(hosts.throughput_mib_s, demand.throughput_mib_s.max())
                    assert judged.throughput_mib_s >= most - 1e-5


@given(sets(level=st.sampled_from(["raid0", "striped"])), policies())
@LAW
def test_an_even_set_is_never_offered_more_than_its_host_carries_for_all(some, policy):
    """Rounded up to what is sold, and unless one volume was seen to do more than its share, or all to do more than the
    host is published to carry: then its limits do not hold."""
    _, volumes, demands = some
    hosts, headroom = ceiling_of_hosts(volumes[0]), 1 + policy.headroom_pct / 100
    cases, load = cases_of(volumes, demands, policy)
    assume(not load.exceeds(cases[0].demand, None))
    for kind, need in needs_of(*some, policy).items():
        counted = [case.demand.busy(case.demand.count(TYPES[kind].accounting)[IOPS]).max() for case in cases]
        busy = [headroom * most for most in counted]
        assert need.iops <= max(hosts.iops / len(volumes), *busy) + 1e-9
        moved = [headroom * case.demand.busy(case.demand.throughput_mib_s).max() for case in cases]
        assert need.throughput_mib_s <= max(hosts.throughput_mib_s / len(volumes), *moved) + 1e-9


@given(sets(most=3), policies(), st.data())
@LAW
def test_a_volume_that_must_stay_keeps_all_as_they_are_and_is_named(some, policy, data):
    stripes, volumes, demands = some
    assume(len(volumes) > 1)
    name = data.draw(st.sampled_from([volume.id for volume in volumes]))
    found = decided(stripes, volumes, demands, policy, held=[(name, "the policy excludes it by its tag x")])
    assert set(found) == {volume.id for volume in volumes} - {name}
    for one in found.values():
        assert isinstance(one, Keep)
        assert f"held back by {name} (the policy excludes it by its tag x)" in one.reasons[0]
        assert one.stripe_set.usd_month_then is None


@given(sets(alike=True), policies())
@LAW
def test_the_sets_money_is_that_of_its_volumes(some, policy):
    found = decided(*some, policy)
    saved = sum(one.usd_month_saved for one in found.values() if isinstance(one, Change))
    for one in found.values():
        told = one.stripe_set
        assert told.usd_month_now - told.usd_month_then == pytest.approx(saved, abs=1e-6)
        if isinstance(one, Change) and not isinstance(one, Upgrade):
            assert saved >= policy.min_saving_usd_month


def a_pair(kind="gp2", size_gib=500, *, asked=((200.0, 10.0), (200.0, 10.0)), level="raid0", **fields):
    """Two alike volumes on one large host unless said otherwise, `asked` for so many IOPS and MiB/s each."""
    volumes = [a_volume(kind, size_gib, id=name, **fields) for name in ("a", "b")]
    demands = {name: a_demand(*rates) for name, rates in zip("ab", asked, strict=True)}
    return a_stripe_set("a", "b", level=level), volumes, demands


def said(recommendation, words):
    return any(words in reason for reason in recommendation.reasons)


def test_both_are_sized_for_the_busier_one_and_the_difference_is_told():
    found = decided(*a_pair("gp3", iops=16_000, asked=((200.0, 10.0), (5_000.0, 10.0))))
    assert [one.target.spec.iops for one in found.values()] == [6_000, 6_000]
    for one in found.values():
        assert said(one, "not spread evenly as raid0 should: b carries 5,000.0 IOPS on average, a 200.0")
    assert not said(decided(*a_pair())["a"], "not spread evenly")


def test_a_set_says_what_it_is_and_what_the_change_of_all_saves():
    found = decided(*a_pair())
    assert said(found["a"], "one device, md0 (raid0), with b")
    assert said(found["b"], "one device, md0 (raid0), with a")
    saved = found["a"].usd_month_saved + found["b"].usd_month_saved
    assert said(found["a"], f"The change of the whole set saves {dollars(saved)} a month.")


@pytest.mark.parametrize(
    ("level", "words"),
    [("linear", "any may have to carry the whole load"), ("raid1", "serve all reads"), ("raid6", "the busiest one")],
)
def test_what_is_assumed_of_a_level_that_is_not_even_is_said(level, words):
    assert said(decided(*a_pair(level=level))["a"], words)


def test_savings_count_over_the_whole_set():
    each = decided(*a_pair())["a"].usd_month_saved
    policy = a_policy(min_saving_usd_month=1.5 * each)
    assert {one.action for one in decided(*a_pair(), policy).values()} == {"migrate"}
    policy = a_policy(min_saving_usd_month=2.5 * each)
    assert {one.action for one in decided(*a_pair(), policy).values()} == {"keep"}


def test_a_volume_that_is_already_there_stays_while_the_others_follow():
    stripes, (first, second), demands = a_pair()
    target = decided(stripes, [first, second], demands)["a"].target.spec
    found = decided(stripes, [replace(first, spec=target), second], demands)
    assert (found["a"].action, found["b"].action) == ("keep", "migrate")
    assert found["b"].target.spec == target
    assert (
        found["a"].reasons[0] == "It already has the configuration that the other volumes of its stripe set will get."
    )


def test_what_blocks_one_blocks_all_and_says_whom():
    stripes, (first, second), demands = a_pair()
    found = decided(stripes, [first, replace(second, operator="eks")], demands)
    assert [one.code for one in found["b"].blockers] == ["operator-managed"]
    assert [one.code for one in found["a"].blockers] == ["operator-managed"]
    assert found["a"].blockers[0].text.startswith("b of the same stripe set: eks manages")


def test_where_one_has_to_wait_all_wait():
    stripes, (first, second), demands = a_pair()
    busy = replace(second, modification=Modification(state="optimizing", started=NOW - timedelta(hours=1)))
    found = decided(stripes, [first, busy], demands)
    assert {one.action for one in found.values()} == {"wait"}


def test_what_is_refused_to_one_is_refused_to_all():
    stripes, (first, second), demands = a_pair()
    context = a_basis(a_policy())
    load = host_loads([first, second], demands)["i-1"]
    careful = a_basis(a_policy(target_types=("io2",)))
    cases = [case_of(first, demands["a"], load, context), case_of(second, demands["b"], load, careful)]
    found = decide_together(Unit(stripes=stripes, volumes=[first, second], held={}), cases, load)
    gp3 = next(offer for offer in found["a"].comparison.offers if offer.spec.type == "gp3")
    assert gp3.refused == ("b: gp3 is not among the policy's target_types",)
    assert {one.action for one in found.values()} == {"keep"}


def short_of_one(stripes, volumes, demands):
    short = demands["b"]
    there = np.arange(len(short.observed)) < 60
    return decided(stripes, volumes, {**demands, "b": replace(short, observed=there, rates=short.rates * there)})


def test_too_little_known_of_one_keeps_the_other():
    found = short_of_one(*a_pair("gp3", iops=5000))
    assert isinstance(found["b"], InsufficientData)
    assert isinstance(found["a"], Keep)
    assert "held back by b (too little is known of it" in found["a"].reasons[0]


def test_what_keeps_all_limits_of_all_needs_no_metrics_of_any():
    found = short_of_one(*a_pair())
    assert [one.action for one in found.values()] == ["migrate", "migrate"]
    assert {(one.measured, one.losses, one.cuts) for one in found.values()} == {(False, (), ())}


def test_excluded_volumes_and_unpublished_types_are_held_with_the_reason():
    excluded, unknown, free = (
        a_volume(id="a", tags={"plimsoll:exclude": "true"}),
        a_volume("gp9", id="b"),
        a_volume(id="c"),
    )
    (unit,) = make_units([a_stripe_set("a", "b", "c")], [excluded, unknown, free], a_basis())
    assert set(unit.held) == {"a", "b"}
    assert "plimsoll:exclude=true" in unit.held["a"]
    assert "gp9 has no published limits" in unit.held["b"]
    demands = {"c": a_demand(200, 10)}
    (found,) = decide_together(unit, *cases_of([free], demands, a_policy())).values()
    assert isinstance(found, Keep)
    assert found.stripe_set.together is None


def test_a_volume_that_did_more_than_its_share_of_the_host_gets_what_it_did():
    fields = {"on": a_host("r5b.large"), "iops": 4_000, "throughput_mib_s": 1_000}
    found = decided(*a_pair("gp3", asked=((1_000.0, 800.0), (1_000.0, 100.0)), **fields))
    assert [one.target.spec.throughput_mib_s for one in found.values()] == [800, 800]


def test_a_host_that_holds_back_the_set_holds_back_each_though_each_is_a_small_part_of_its_traffic():
    host = a_host("m5.24xlarge")
    volumes = [a_volume("io2", 500, iops=10_000, id=name, on=host) for name in ("a", "b", "other")]
    demands = {"a": a_demand(3_000), "b": a_demand(3_000), "other": a_demand(72_000)}
    (first, second, _), load = cases_of(volumes, demands, a_policy())
    assert not first.room.bound.any()
    for one in share_highest_load([first, second], load, parts=2):
        assert one.room.bound.all()
        assert peaks(one.load.reducing, TYPES["gp3"].accounting).iops == pytest.approx(10_000)


def test_no_more_is_bought_than_the_host_carries_for_all():
    """Two throttled volumes on a host of 43,333 IOPS and 1,192 MiB/s: each can use half of that."""
    asked = ((1_000.0, 596.0), (1_000.0, 596.0))
    fields = {"on": a_host("r5b.large"), "iops": 4_000, "throughput_mib_s": 1_000}
    found = decided(*a_pair("gp3", asked=asked, **fields))
    assert [one.target.spec.throughput_mib_s for one in found.values()] == [600, 600]
    linear = decided(*a_pair("gp3", asked=asked, level="linear", **fields))
    assert {one.action for one in linear.values()} == {"keep"}
