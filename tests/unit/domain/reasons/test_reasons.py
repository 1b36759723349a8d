"""Why an answer is what it is: which reasons stand where, and with which figures. A golden file has the wording."""

import pickle
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.model.kinds import Reason
from plimsoll.model.policy import SizeOn
from plimsoll.model.volume import Modification, Seen
from tests.builders import NOW, US_EAST_1, a_demand, a_host, a_market, a_policy, a_spec, a_volume, decision
from tests.gates.library import find_files
from tests.golden import assert_golden

QUIET = a_demand(iops=400, throughput_mib_s=20)
BURSTS = a_demand(iops=[300.0], iops_exceeded=[True, *[False] * 2999], busy_share=[0.1, *[1.0] * 2999], buckets=3000)
HIDDEN = a_demand(iops=500, throughput_mib_s=8, busy_share=0.05)
RAISED = Modification(state="completed", started=NOW - timedelta(hours=2), original=a_spec("gp3"))
LATELY = a_demand(
    iops=[*[3000.0] * 2880, *[2000.0] * 120], throughput_mib_s=20, buckets=3000, start_s=int(NOW.timestamp()) - 180_000
)
SEEN_BUT_AN_HOUR = [index > 60 or index == 0 for index in range(3000)]

CASES = {
    "a change": (a_volume("gp2", 500), QUIET),
    "a drop-in replacement that costs more": (a_volume("gp2", 200), QUIET),
    "a bare type change that would give less": (a_volume("gp2", 1000), a_demand(iops=400, throughput_mib_s=150)),
    "a coarser resolution": (a_volume(), a_demand(iops=10, resolution_s=300)),
    "held back": (a_volume("gp2", 1000), a_demand(iops=[3000.0], buckets=3000)),
    "raised lately": (a_volume("gp3", iops=16_000, modification=RAISED), LATELY),
    "raised without need": (a_volume("gp3", iops=16_000, modification=RAISED), replace(QUIET, start_s=LATELY.start_s)),
    "what it was before is not known": (
        a_volume("gp3", iops=16_000, modification=replace(RAISED, original=None)),
        LATELY,
    ),
    "the last minute is dear": (
        a_volume("io2", 500, iops=12_000),
        a_demand(iops=[*[9000.0] * 2, *[3200.0] * 20_000], throughput_mib_s=20, buckets=20_160),
        a_policy(target_types=("io2",)),
    ),
    "the host is the limit": (
        a_volume("gp3", iops=3600, on=a_host("m4.large")),
        a_demand(iops=3600, throughput_mib_s=20),
    ),
    "throttled on IOPS": (a_volume("gp3"), a_demand(iops=3000)),
    "throttled on throughput": (a_volume("gp3"), a_demand(throughput_mib_s=125)),
    "more than the host can use": (a_volume("io2", 2000, iops=100_000, on=a_host("m5.large")), a_demand(iops=100)),
    "kept, with more than the host can use": (
        a_volume("gp2", 16_384, on=a_host("m4.large")),
        a_demand(iops=10),
        a_policy(min_saving_usd_month=1e6),
    ),
    "the host was the bottleneck": (
        a_volume("gp2", 5334, on=a_host("m4.large")),
        a_demand(iops=[3600.0] * 3, buckets=3000),
    ),
    "bursts that do not size the offer": (a_volume("gp3", 500, iops=4000), BURSTS),
    "bursts that size the offer": (a_volume("gp3", 500, iops=4000), BURSTS, a_policy(size_on=SizeOn.BUSY_TIME)),
    "latency and durability given up": (a_volume("io2", 500, iops=5000), QUIET),
    "billed by operation": (a_volume("standard", 100), a_demand(iops=50)),
    "gaps of an hour": (a_volume(), a_demand(iops=1, observed=SEEN_BUT_AN_HOUR, buckets=3000)),
    "nothing fits": (
        a_volume("gp2", 6000),
        a_demand(iops=[16_000.0] * 30, buckets=3000),
        a_policy(target_types=("gp2",)),
    ),
    "too little is saved": (a_volume("gp2", 40), a_demand(iops=10)),
    "a drop-in replacement that saves nearly as much": (
        a_volume("io1", 1000, iops=30_000),
        a_demand(iops=9_000, throughput_mib_s=140),
    ),
    "a minute that costs more than all the others": (
        a_volume("gp3", 2000, iops=40_000, throughput_mib_s=125),
        a_demand(iops=[30_000.0, *[2000.0] * 20_159], buckets=20_160),
    ),
    "throttled, and a drop-in replacement is cheaper": (
        a_volume("gp2", 250),
        a_demand(throughput_mib_s=250, iops=1500),
    ),
    "a smaller offer and bursts that a minute hides": (
        a_volume("io1", 500, iops=10_000),
        HIDDEN,
        a_policy(drop_in_share_pct=100),
    ),
}


def said(volume, demand, policy=None, *, market=None):
    return " | ".join(decision(volume, demand, policy, market=market).reasons)


def test_the_wording_of_every_reason():
    told = [f"{name}\n" + "\n".join(f"  - {one}" for one in decision(*case).reasons) for name, case in CASES.items()]
    assert_golden("reasons", "\n\n".join(told))


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        (
            "a change",
            [
                "48 hours",
                "1 minute",
                "400 IOPS, 20.0 MiB/s",
                "480 IOPS (peak 400, 20 % headroom) and 24.0 MiB/s (peak 20.0, 20 % headroom)",
                "$5.00 a month",
            ],
        ),
        ("a drop-in replacement that costs more", ["$1.00 a month more"]),
        ("a bare type change that would give less", ["the type alone", "3,000 IOPS 125 MiB/s", "$80.00 a month"]),
        ("a coarser resolution", ["5 minutes"]),
        ("held back", ["ceiling in 1 minute."]),
        ("raised lately", ["was raised on", "Look again on 2026-11-27", "$"]),
        ("raised without need", ["was gp3 500 GiB 3,000 IOPS 125 MiB/s", "takes that back"]),
        ("what it was before is not known", ["the least that the workload wanted"]),
        ("the last minute is dear", ["with no minute throttled", "15 minutes"]),
        ("the host is the limit", ["The host i-1 (m4.large) is the limit"]),
        ("throttled on IOPS", ["throttled on IOPS"]),
        ("throttled on throughput", ["throttled on throughput"]),
        ("more than the host can use", ["100,000 IOPS", "18,750", "4,000 MiB/s", "566", "paid for and cannot be used"]),
        ("kept, with more than the host can use", ["could do 16,000 IOPS", "3,600"]),
        ("the host was the bottleneck", ["bottleneck in 3 minutes"]),
        ("bursts that do not size the offer", ["3,000 IOPS", "does not size"]),
        ("bursts that size the offer", ["which sizes the offer"]),
        ("latency and durability given up", ["Given up: latency", "Given up: durability", "99.999 %", "99.8 %"]),
        ("billed by operation", ["billed by operation"]),
        ("gaps of an hour", ["gaps of 1 hour"]),
        ("too little is saved", ["$0.80 a month", "1.00"]),
        (
            "a drop-in replacement that saves nearly as much",
            ["keeps all of today's IOPS and MiB/s", "99.9 % of the time", "99 % of the time"],
        ),
        ("a minute that costs more than all the others", ["$325 a month with no minute", "$235 with 5 minutes"]),
    ],
)
def test_a_reason_names_its_figures(name, figures):
    text = said(*CASES[name])
    assert [figure for figure in figures if figure not in text] == []


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        ((a_volume("gp2", 1000), QUIET), "the type alone"),
        (CASES["held back"], "throttled on IOPS"),
        ((a_volume("io2", 2000, iops=1000), a_demand(iops=100)), "paid for and cannot be used"),
        ((a_volume("gp2", 500), QUIET), "given up"),
        (
            (a_volume(), a_demand(iops=1, observed=[at >= 60 or at == 0 for at in range(3000)], buckets=3000)),
            "gaps of 1 hour",
        ),
        ((a_volume("io1", 500, iops=10_000), HIDDEN, a_policy(size_on=SizeOn.BUSY_TIME)), "Risk:"),
    ],
)
def test_what_is_not_so_is_not_said(given, absent):
    assert absent not in said(*given)


@pytest.mark.parametrize(("name", "first"), [("nothing fits", "No offer"), ("too little is saved", "gp3 40 GiB")])
def test_why_a_volume_is_kept_comes_first(name, first):
    assert said(*CASES[name]).startswith(first)


def test_without_price_and_hours_both_are_said():
    answer = decision(a_volume(), a_demand(iops=1, buckets=60), market=a_market(replace(US_EAST_1, types={})))
    assert len(answer.reasons) == 2


@pytest.mark.parametrize("hours", [0.5, 30.0])
@pytest.mark.parametrize("state", ["failed", "completed"])
@pytest.mark.parametrize("demand", [QUIET, a_demand(iops=1, buckets=60), a_demand(iops=3000)])
def test_a_change_that_failed_lately_is_said_whatever_the_answer(hours, state, demand):
    began = NOW - timedelta(hours=hours)
    latest = Modification(state=state, started=began, ended=began, original=a_spec("gp2"))
    codes = [reason.code for reason in decision(a_volume("gp2", 500, modification=latest), demand).reasons]
    assert codes.count("modification-failed") == (state == "failed" and hours < 24)


@pytest.mark.parametrize(
    ("before", "now", "demand", "right"),
    [
        # IOPS and MiB/s before and now; what is asked; which reason is said, and whether the answer takes it back
        ((3000, 125), (10_000, 125), {"iops": 900}, [("raised-lately", True)]),  # a reduction
        ((3000, 125), (6000, 500), {"iops": 900}, [("raised-lately", True)]),
        ((3000, 125), (3000, 250), {"iops": 900, "throughput_mib_s": 200}, [("raised-lately", False)]),  # keep
        ((3000, 125), (4000, 125), {"iops": 4000}, [("raised-lately", False)]),  # relief
        ((16_000, 125), (4000, 125), {"iops": 4000}, [("lowered-lately", True)]),  # relief
        ((16_000, 125), (6000, 125), {"iops": 900}, []),  # a further reduction
        ((6000, 125), (6000, 125), {"iops": 900}, []),
    ],
)
@pytest.mark.parametrize("known_by", ["the cloud", "an audit"])
def test_what_somebody_raised_lately_is_said_whomever_the_answer_contradicts(before, now, demand, right, known_by):
    old, spec = (a_spec("gp3", iops=iops, throughput_mib_s=mib_s) for iops, mib_s in (before, now))
    at = NOW - timedelta(hours=26)
    how = {"modification": Modification(state="completed", started=at, original=old)}
    if known_by == "an audit":
        at_s = int(at.timestamp())
        how = {"seen": (Seen(at_s=at_s, spec=old), Seen(at_s=at_s, spec=spec, made=True))}
    seen = a_demand(**{"throughput_mib_s": 20, **demand}, buckets=3000, start_s=int(NOW.timestamp()) - 180_000)
    volume = a_volume("gp3", iops=spec.iops, throughput_mib_s=spec.throughput_mib_s, **how)
    found = [one for one in decision(volume, seen).reasons if one.code in {"raised-lately", "lowered-lately"}]
    assert [(one.code, "takes that back" in one) for one in found] == right
    assert all(f"on 19 November 2026: it was {old}" in one for one in found)


@pytest.mark.parametrize(("state", "hours", "iops"), [("completed", 60, 3000), ("failed", 3, 16_000)])
def test_a_change_before_the_window_or_that_failed_is_not_lately(state, hours, iops):
    change = Modification(state=state, started=NOW - timedelta(hours=hours), original=a_spec("gp3", iops=iops))
    seen = a_demand(iops=900, buckets=3000, start_s=int(NOW.timestamp()) - 180_000)
    found = decision(a_volume("gp3", iops=16_000, modification=change), seen)
    assert found.reasons
    assert "raised-lately" not in [one.code for one in found.reasons]


@pytest.mark.parametrize("name", CASES)
def test_every_reason_has_a_code_which_goes_where_it_goes(name):
    for reason in decision(*CASES[name]).reasons:
        assert isinstance(reason, Reason)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", reason.code), reason
        again = pickle.loads(pickle.dumps(reason))
        assert (again, again.code) == (reason, reason.code)


def test_no_code_asks_how_a_sentence_begins():
    asked = re.compile(r"reasons?\w*(\[\d+\])?\.(startswith|endswith|removeprefix|partition)\(|starts_with\(reason")
    assert not [path for path in find_files(".py") if asked.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("volume", "wasted"),
    [
        (a_volume("gp3", 500, iops=3000, throughput_mib_s=125, on=a_host("m4.large")), ()),
        (a_volume("gp3", 500, iops=4000, throughput_mib_s=125, on=a_host("m4.large")), ("400",)),
        (a_volume("gp2", 5334, on=a_host("m4.large")), ()),
        (a_volume("io1", 1000, iops=10_000, on=a_host("m4.large")), ("6,400",)),
    ],
)
def test_waste_is_what_is_paid_for_and_cannot_be_used(volume, wasted):
    found = decision(volume, QUIET, a_policy(min_saving_usd_month=1e6)).reasons
    told = [reason for reason in found if reason.code == "waste"]
    assert len(told) == len(wasted)
    assert all(
        f"{figure} are paid for and cannot be used" in reason for figure, reason in zip(wasted, told, strict=True)
    )


@given(st.floats(0.5, 2900), st.sampled_from([0.0, 10.0, 20.0, 33.0]))
@example(11.444446519686153, 10.0)
def test_what_has_to_be_carried_adds_up(iops, headroom_pct):
    policy = a_policy(headroom_pct=headroom_pct, drop_in_share_pct=100)
    found = decision(a_volume("gp3", 500, iops=16_000), a_demand(iops=iops, throughput_mib_s=1), policy)
    (need,) = (reason for reason in found.reasons if reason.code == "need")
    figures = re.search(r"carry ([\d,.]+) IOPS \(peak[a-z ]* ([\d,.]+), ([\d.]+) % headroom\)", need)
    carried, peak, headroom = (float(figure.replace(",", "")) for figure in figures.groups())
    decimals = len(figures[1].partition(".")[2])
    assert carried == pytest.approx(peak * (1 + headroom / 100), abs=0.51 * 10**-decimals)
