"""A run beside Compute Optimizer: each case, and what would have throttled is what the domain's trial holds back."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from plimsoll.decide.answer import NO_CHANGE
from plimsoll.demand.trial import plain, trial
from plimsoll.model.policy import Headroom
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Advice
from plimsoll.reports.advice import (
    VERDICT_WORDS,
    AdviceVerdict,
    compare_run,
    compare_volume,
    compared_json,
    compared_markdown,
    show_compared,
)
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER, SpecRecord, TooRiskyRecord
from tests.builders import TYPES, a_demand, a_volume, decision
from tests.profiles import examples
from tests.unit.reports.recommendations import a_profile, a_record, a_risk
from tests.unit.reports.runs import a_run, an_unanswered

TWENTY = Headroom(pct=20.0, usual_pct=20.0)


def gp3(iops=3000, throughput_mib_s=125, size_gib=500):
    return VolumeSpec(type="gp3", size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


def advice_for(record, target, saved=10.0, **fields):
    made = {
        "account": record.account,
        "region": record.region,
        "volume_id": record.volume_id,
        "current": record.current.spec,
        "target": target,
        "usd_month_saved": saved,
        "performance_risk": 1.0,
        "days": 14.0,
    }
    return Advice(**{**made, **fields})


def compared(record, advice, profile=None, **more):
    return compare_volume(record, profile, advice, types=TYPES, headroom=TWENTY, **more)


def record_for(demand, volume=None):
    """The record of a volume that is decided by the domain."""
    made = volume or a_volume("io2", 500, iops=16_000)
    return record_of(decision(made, demand), NO_CHANGE, provider=FIRST_PROVIDER)


def test_the_same_configuration_is_the_same_whatever_each_says_that_it_saves():
    record = a_record("migrate")
    assert compared(record, advice_for(record, record.target.spec, saved=1.0)).verdict is AdviceVerdict.SAME
    kept = a_record("keep")
    assert compared(kept, advice_for(kept, kept.current.spec, saved=0.0)).verdict is AdviceVerdict.SAME


def test_what_the_volume_did_above_their_limit_would_have_been_throttled_and_is_dated():
    record = record_for(a_demand(1_000, [100.0] * 2_820 + [210.0] * 60, buckets=2_880))
    profile = a_profile([1_000.0] * 3, of=record, moved=[50.0, 105.0, 70.0], length_s=7200)
    found = compared(record, advice_for(record, gp3(), saved=400.0), profile)
    assert found.verdict is AdviceVerdict.WOULD_THROTTLE
    assert found.why == (
        "125 MiB/s would have throttled the volume: it did 210 MiB/s on 2026-11-07 between 02:00 and 04:00 UTC, and "
        "more than 125 on 1 day."
    )


def test_a_day_that_was_read_as_one_span_has_no_hours():
    record = record_for(a_demand(1_000, 210.0))
    profile = a_profile([1_000.0] * 2, of=record, moved=[105.0, 100.0], length_s=86_400)
    found = compared(record, advice_for(record, gp3(), saved=400.0), profile)
    assert "on 2026-11-07, and more than 125 on 2 days" in found.why


def test_a_burst_that_runs_out_would_have_throttled_too():
    record = record_for(a_demand(2_500, 10))
    small = VolumeSpec(type="gp2", size_gib=500)
    found = compared(record, advice_for(record, small, saved=400.0))
    assert (found.verdict, "IOPS sustained" in found.why) == (AdviceVerdict.WOULD_THROTTLE, True)


def test_theirs_that_ends_no_throttling_throttles_as_today():
    record = a_record("upgrade")
    found = compared(record, advice_for(record, record.current.spec, saved=0.0))
    assert (found.verdict, "today's throttling" in found.why) == (AdviceVerdict.WOULD_THROTTLE, True)


def test_theirs_is_cheaper_with_too_little_headroom():
    record = record_for(a_demand(2_900, 10))
    found = compared(record, advice_for(record, gp3(), saved=2_000.0))
    assert (found.verdict, "less than 20 % headroom" in found.why) == (AdviceVerdict.THEIRS_CHEAPER, True)


def test_theirs_is_cheaper_at_a_risk_that_is_not_allowed():
    kept = a_record("keep")
    smaller = gp3(iops=3_000, size_gib=kept.current.size_gib, throughput_mib_s=130)
    risky = TooRiskyRecord(
        spec=SpecRecord(**vars_of(smaller)), monthly_usd=1.0, monthly_usd_saved=9.0, cuts=["MiB/s"], risk=a_risk(30.0)
    )
    found = compared(kept.model_copy(update={"too_risky": risky}), advice_for(kept, smaller, saved=9.0))
    assert (found.verdict, "30 %, above" in found.why) == (AdviceVerdict.THEIRS_CHEAPER, True)


def vars_of(spec):
    return {name: getattr(spec, name) for name in ("type", "size_gib", "iops", "throughput_mib_s")}


def test_ours_is_cheaper_by_what_was_seen():
    record = a_record("migrate")
    found = compared(record, advice_for(record, gp3(iops=5_000), saved=0.0))
    assert found.verdict is AdviceVerdict.OURS_CHEAPER
    assert found.ours == record.target.spec
    assert "never did more than 200 IOPS and 10 MiB/s" in found.why


@pytest.mark.parametrize("saved", [None, 10.03])
def test_of_the_same_or_an_unknown_cost_neither_is_cheaper(saved):
    record = a_record("migrate", monthly_usd_saved=10.0)
    assert compared(record, advice_for(record, gp3(iops=5_000), saved=saved)).verdict is AdviceVerdict.OTHER


def test_a_volume_that_was_changed_in_between_is_not_judged():
    record = a_record("migrate")
    found = compared(record, advice_for(record, gp3(), current=gp3(iops=9_000)))
    assert found.verdict is AdviceVerdict.CHANGED


@pytest.mark.parametrize("action", ["wait", "insufficient-data"])
def test_where_the_run_has_no_answer_yet_its_reason_is_told(action):
    record = a_record(action)
    found = compared(record, advice_for(record, gp3()))
    assert (found.verdict, found.why, found.ours, found.ours_saves) == (
        AdviceVerdict.OURS_NONE,
        record.reasons[0],
        None,
        None,
    )


def test_where_they_have_none_it_is_said_why_if_that_is_known():
    record = a_record("migrate")
    assert compared(record, None).verdict is AdviceVerdict.THEIRS_NONE
    assert compared(record, None, missing="not opted in").why == "not opted in"
    assert compared(record, None).theirs_saves is None


rates = st.integers(1, 12_000)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(rates, min_size=1, max_size=8), st.integers(1, 700), st.integers(3_000, 12_000), st.integers(125, 700))
def test_what_would_have_throttled_is_what_the_trial_of_the_demand_holds_back(iops, mib_s, most_iops, most_mib_s):
    demand = a_demand([float(rate) for rate in iops] * 360, float(mib_s), buckets=2_880)
    record = record_for(demand, a_volume("io2", 500, iops=64_000))
    spec = gp3(most_iops, min(most_mib_s, most_iops // 4))
    found = compared(record, advice_for(record, spec, saved=5_000.0))
    if found.verdict is AdviceVerdict.SAME:
        return
    held = trial(plain(demand), TYPES["gp3"].ceiling(spec)).throttled_minutes > 0
    # Only an I/O size above what counts as one operation holds back more than the two rates show.
    assert (found.verdict is AdviceVerdict.WOULD_THROTTLE) <= held
    if mib_s * 1024 / min(iops) <= 256:
        assert (found.verdict is AdviceVerdict.WOULD_THROTTLE) == held


def a_comparison(folder):
    records = [
        a_record("migrate", volume_id="vol-1", name="a|<b>"),
        a_record("keep", volume_id="vol-2"),
        a_record("migrate", volume_id="vol-3"),
        a_record("migrate", volume_id="vol-4", provider="google"),
    ]
    run = a_run(folder, records, unanswered=[an_unanswered("vol-5", reason="no metrics")])
    advice = {
        f"111122223333/us-east-1/{record.volume_id}": advice_for(record, spec, saved)
        for record, spec, saved in (
            (records[0], gp3(iops=5_000), 0.0),
            (records[1], records[1].current.spec, 0.0),
            (a_record(volume_id="vol-5"), gp3(), 3.0),
        )
    }
    place = f"{records[0].account}/{records[0].region}"
    advice = {
        name.replace("111122223333/us-east-1", place) if "vol-5" not in name else name: one
        for name, one in advice.items()
    }
    return compare_run(run, advice, {f"{place}/vol-3": "asked"}, provider="aws", types=TYPES, headroom=TWENTY)


def test_a_run_is_compared_volume_by_volume_and_other_clouds_are_left_out(tmp_path):
    volumes = a_comparison(tmp_path / "run")
    assert {volume.volume_id: volume.verdict for volume in volumes} == {
        "vol-1": AdviceVerdict.OURS_CHEAPER,
        "vol-2": AdviceVerdict.SAME,
        "vol-3": AdviceVerdict.THEIRS_NONE,
        "vol-5": AdviceVerdict.OURS_NONE,
    }
    assert [volume.why for volume in volumes if volume.volume_id == "vol-3"] == ["asked"]


def test_every_printer_has_each_volume_and_each_failure(tmp_path):
    volumes, failed = a_comparison(tmp_path / "run"), {"111122223333/eu-west-1": "AccessDenied"}
    data = json.loads("".join(compared_json("run", volumes, failed)))
    assert data["failed"] == failed
    assert [volume["volume_id"] for volume in data["volumes"]] == [volume.volume_id for volume in volumes]
    assert data["verdicts"]["theirs-none"] == {
        "volumes": 1,
        "theirs_monthly_usd_saved": None,
        "ours_monthly_usd_saved": volumes[0].ours_saves,
    }
    markdown = compared_markdown("run", volumes, failed)
    screen = io.StringIO()
    show_compared(Console(file=screen, width=160), volumes, failed, 0)
    for text in (markdown, screen.getvalue()):
        assert "AccessDenied" in text
        assert all(name in text for name in ("vol-1", "vol-3", "vol-5"))
        assert "vol-2" not in text, "both say the same"
    assert "<b>" not in markdown.replace("`a|<b>`", "").replace("`a&#124;<b>`", "").replace("`a\\|<b>`", "")
    short = io.StringIO()
    show_compared(Console(file=short, width=160), volumes, failed, 1)
    assert "2 more" in short.getvalue()


def test_every_verdict_has_words():
    assert set(VERDICT_WORDS) == set(AdviceVerdict)
