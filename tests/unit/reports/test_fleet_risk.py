"""The fleet's risk: parts add up to the whole, and reports say it in the words of its figures."""

from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.reports.record import RiskRecord, SaferRecord
from plimsoll.reports.totals import FleetRisk, RunTotals
from plimsoll.reports.wording import outlook
from tests.golden import assert_golden
from tests.profiles import examples
from tests.unit.reports.recommendations import a_record


def a_risk(promised_pct, safer=None):
    level = None if safer is None else SaferRecord(promised_pct=safer[0], headroom_pct=80.0, monthly_usd=safer[1])
    return RiskRecord(
        promised_pct=promised_pct,
        minutes=15.0,
        days=30.0,
        history_days=14.0,
        headroom_pct=20.0,
        is_learned=False,
        learned_from=["a.npz"],
        volumes=250,
        public=True,
        text="",
        safer=level,
    )


def reduced(risk, action="reprovision"):
    return a_record(action, monthly_usd_then=40.0, risk=risk)


RECORDS = [
    reduced(a_risk(20.0, (5.0, 52.5))),
    reduced(a_risk(50.0, (30.0, 40.0))),
    reduced(a_risk(2.0)),
    reduced(a_risk(None)),
    reduced(None, "keep"),
    reduced(None, "upgrade"),
]


def of(records):
    found = FleetRisk()
    for record in records:
        found.add(record)
    return found


def test_it_counts_what_is_promised_and_what_the_next_level_costs():
    assert of(RECORDS).run_risk.plain == {
        "promised": 3,
        "unpromised": 1,
        "expected": 0.72,
        "minutes": 15.0,
        "days": 30.0,
        "safer": {"volumes": 2, "expected": 0.37, "more_usd_month": 12.5},
    }


@settings(max_examples=examples(30))
@given(picked=st.lists(st.sampled_from(RECORDS), max_size=12), parts=st.integers(min_value=1, max_value=4))
def test_parts_add_up_to_the_whole(picked, parts):
    merged = FleetRisk()
    for part in range(parts):
        merged.merge(of(picked[part::parts]))
    assert merged == of(picked)
    totals = RunTotals.add_up(picked)
    assert (
        RunTotals.parse(totals.plain).summary()["risk"]
        == totals.summary()["risk"]
        == (merged.run_risk and merged.run_risk.plain)
    )


def test_where_nothing_is_reduced_nothing_is_said():
    assert outlook(of([RECORDS[4], RECORDS[5]]).run_risk) == ""


def test_a_report_says_it_in_sentences():
    fleets = [RECORDS, [RECORDS[2]] * 50, [RECORDS[3]] * 2]
    assert_golden("fleet-risk", "\n".join(outlook(of(one).run_risk) for one in fleets) + "\n")
