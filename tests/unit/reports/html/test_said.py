"""What the page says: totals that are the tally's, steps in the order in which to act, nothing that is not known."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll.reports.html.first import todos
from plimsoll.reports.html.fleet import Fleet, counted
from plimsoll.reports.html.headline import figures, headline, incomplete, resume_command
from plimsoll.reports.html.savings import FOLDED, SHOWN, breakdowns
from plimsoll.reports.html.wording import NAME_LENGTH, change_words, cut, given_up, outcome_text, plight, usd
from plimsoll.reports.recorded import record_of
from plimsoll.reports.step_words import judged_by, step_words
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.tally import Tally
from tests.builders import a_demand, a_policy, a_volume, decision
from tests.unit.reports.html.pages import a_fleet, a_run, read_page, special_records, written
from tests.unit.reports.recommendations import a_record

FOLDER = Path("plimsoll-runs/a run")
RUN = {
    "id": "r",
    "status": "complete",
    "volumes": {"seen": 0, "failed": 0, "skipped": {}},
    "failures": {"targets": {}, "volumes": {}},
}
MONEY = some.floats(0, 10_000).map(lambda amount: round(amount, 2))
RECORDS = some.lists(
    some.builds(
        lambda action, saved, share, account, region: a_record(
            action,
            monthly_usd_now=saved + 10,
            monthly_usd_saved=saved if action != "detached" else 0.0,
            monthly_usd_saved_at_parity=round(saved * share, 2),
            account=account,
            region=region,
        ),
        some.sampled_from(("migrate", "reprovision", "upgrade", "keep", "detached")),
        MONEY,
        some.floats(0, 1),
        some.sampled_from([f"{number}" for number in range(100)]),
        some.sampled_from(("us-east-1", "eu-west-1")),
    ),
    max_size=30,
)


def fleet_of(records):
    fleet = Fleet()
    assert [record for record, _ in counted(((record, None) for record in records), fleet)] == list(records)
    return fleet


@given(RECORDS)
def test_every_breakdown_adds_up_to_the_tally(records):
    tally = Tally()
    for record in records:
        tally.count(record)
    fleet = fleet_of(records)
    assert fleet.tally.summary() == tally.summary()
    for breakdown in breakdowns(fleet):
        lines = [*breakdown.shown, *breakdown.folded]
        assert sum(line.group.volumes for line in lines) == len(records)
        assert sum(line.group.usd_saved for line in lines) == pytest.approx(tally.usd_saved)
        assert sum(line.group.usd_saved_at_parity for line in lines) == pytest.approx(tally.usd_saved_at_parity)
        assert all(0 <= line.parity_pct + line.proof_pct <= 100.1 for line in lines)


@given(RECORDS)
def test_every_volume_is_in_one_step_and_steps_come_in_their_order(records):
    found = list(todos(fleet_of(records), a_policy(), FOLDER))
    assert [todo.step for todo in found] == [step for step in Step if any(step_of(one) is step for one in records)]
    assert sum(len(todo.first) + todo.more for todo in found) == len(records)
    for todo in found:
        assert all(step_of(record) is todo.step for record in todo.first)


def test_a_long_tail_is_one_line_that_holds_the_rest():
    fleet = fleet_of([a_record(account=f"{number}") for number in range(SHOWN + FOLDED + 5)])
    accounts = next(one for one in breakdowns(fleet) if one.dimension == "account")
    assert (len(accounts.shown), len(accounts.folded)) == (SHOWN, FOLDED + 1)
    assert accounts.folded[-1].label == "5 others"
    assert accounts.folded[-1].link is None
    assert accounts.folded[-1].group.volumes == 5


def test_the_volumes_named_first_are_those_that_matter_most():
    fleet = fleet_of(
        [a_record("detached", volume_id=f"vol-{usd}", monthly_usd_now=float(usd)) for usd in (3, 9, 1, 7, 5)]
    )
    (todo,) = todos(fleet, a_policy(), FOLDER)
    assert [record.volume_id for record in todo.first] == ["vol-9", "vol-7", "vol-5"]
    assert todo.more == 2


def test_a_measurement_is_asked_for_by_a_command_that_can_be_pasted():
    evidence = a_record().evidence.model_copy(update={"grade": "C"})
    record = a_record(evidence=evidence, monthly_usd_saved=10.0, monthly_usd_saved_at_parity=0.0)
    (todo,) = todos(fleet_of([record]), a_policy(), FOLDER)
    assert todo.step is Step.MEASURE
    assert todo.command == "plimsoll validate --recommendation 'plimsoll-runs/a run'"


def test_the_headline_says_what_can_be_saved_of_what():
    records = [a_record(monthly_usd_now=100.0, monthly_usd_saved=36.0), a_record("keep", monthly_usd_now=20.0)]
    said = headline(fleet_of(records), RUN, whole=True)
    assert said == "$36.00 a month can be saved: 30 % of the $120.00 that these 2 volumes cost."


def test_little_is_not_nothing():
    records = [a_record(monthly_usd_now=10_000.0, monthly_usd_saved=1.0)]
    assert "less than 1 %" in headline(fleet_of(records), RUN, whole=True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty", "No volumes were found."),
        ("keeps", "Nothing can be saved on these 3 volumes"),
        ("no prices", "No price is known for these 2 volumes, so that no saving can be told."),
        ("dear upgrade", "Nothing can be saved on this one volume"),
    ],
)
def test_what_cannot_be_told_is_not_told_as_money(name, said):
    assert headline(fleet_of(special_records()[name]), RUN, whole=True).startswith(said)


def test_a_price_that_is_not_known_is_never_zero(tmp_path):
    page = read_page(written(a_run(tmp_path, special_records()["no prices"])))
    assert "no price known" in page.text
    assert "$0.00" not in page.text.replace("must save $0.00", "").split("By account")[0]
    assert page.rows[0]["saved"] == [None, None]


def test_an_upgrade_that_costs_more_is_beside_the_saving_and_not_in_it():
    fleet = fleet_of(special_records()["dear upgrade"])
    assert [figure.kind for figure in figures(fleet, "the peak")] == ["upgrades"]
    (todo,) = todos(fleet, a_policy(), FOLDER)
    assert todo.money == "costs $99.50 a month more"


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_a_run_that_has_not_ended_says_how_to_go_on(status):
    run = {**RUN, "status": status}
    assert "volumes are missing" in incomplete(run, whole=True)
    assert "volumes are missing" in incomplete(run, whole=False)
    assert resume_command(run, FOLDER) == "plimsoll audit --resume 'plimsoll-runs/a run'"


def test_what_could_not_be_read_is_counted_and_a_part_of_a_run_is_not_blamed_for_it():
    failures = {
        "targets": {"1/us-east-1": "gone"},
        "volumes": {"1/us-east-1": {"gone": ["a"]}, "2/us-east-1": {"x": ["b", "c"]}},
    }
    run = {**RUN, "status": "partial", "failures": failures}
    assert incomplete(run, whole=True) == "Not in these figures, because unreadable: 1 place and 2 volumes."
    assert incomplete(run, whole=False) == ""
    assert incomplete(RUN, whole=True) == ""
    assert resume_command(run, FOLDER) is None


def test_what_is_given_up_beside_iops_and_throughput_is_told(tmp_path):
    record = a_record(reasons=["given up: durability of 99.999 % for 99.8 %.", "another reason."])
    page = read_page(written(a_run(tmp_path, [record])))
    assert page.text.count("given up: durability of 99.999 % for 99.8 %") == 1
    assert page.details[0][0]["given_up"] == ["given up: durability of 99.999 % for 99.8 %"]


def test_a_change_to_a_lesser_type_is_told_as_given_up():
    worse = decision(a_volume("io2", 500, iops=3_000), a_demand(200, 10))
    assert given_up(record_of(worse, ""))


def test_every_step_has_words_under_every_policy():
    for step in Step:
        words = step_words(step, a_policy(lookback_days=1, resolution_s=3600, peak_quantile=0.99))
        assert all((words.name, words.title, words.why))
    assert judged_by(a_policy(lookback_days=1, resolution_s=3600, peak_quantile=0.99, headroom_pct=12.5)) == (
        "the 99th percentile by the hour of the last day with 12.5 % headroom"
    )


@given(some.text(), some.integers(1, 80))
def test_a_cut_name_is_one_line_and_no_longer_than_asked(text, length):
    assert len(cut(text, length)) <= length
    assert len(cut(text, length).splitlines()) <= 1
    assert len(cut(text)) <= NAME_LENGTH


def test_money_and_changes_in_words():
    record = a_record()
    assert usd(-7.841) == "-$7.84"
    assert usd(-0.001) == "$0.00"
    assert " → gp3 " in change_words(record)
    assert "→" not in change_words(a_record("keep"))
    assert outcome_text(record).startswith("saves $")
    assert outcome_text(special_records()["dear upgrade"][0]) == "costs $99.50 a month more"
    assert plight(a_record("upgrade")).startswith("throttled in ")
    assert plight(record) == ""
    assert len({one.volume_id for one in a_fleet(9)}) == 9
