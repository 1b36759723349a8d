"""The report of a run in Slack: what a channel reads at a glance, and what it can press."""

import json
import re

import pytest

from plimsoll.reports.record import BlockerRecord, EvidenceRecord, LossRecord, OwnerRecord
from plimsoll.reports.wording import usd
from plimsoll_service.slack.blocks.elements import OPEN_REPORT
from plimsoll_service.slack.blocks.report import run_conversation
from tests.unit.reports.fleets import a_fleet, special_records
from tests.unit.reports.recommendations import a_record, a_risk
from tests.unit.reports.runs import a_run, an_unanswered
from tests.unit.service.slack.blocks.said import lines, messages, pressed, said, told, told_of


def saving(number, usd=20.0, action="migrate", **fields):
    """A volume that saves so much, of which half needs no proof."""
    usual = {"monthly_usd_now": 2 * usd, "monthly_usd_saved": usd, "monthly_usd_saved_drop_in": usd / 2}
    risk = a_risk(1.0)
    return a_record(
        action, **{"volume_id": f"vol-{number:04}", "name": f"disk-{number}", "risk": risk, **usual, **fields}
    )


LATER = ({"introduce": False}, {"since": "Compared with the run of 2026-11-01: nothing new."})


def test_the_message_begins_with_the_money_and_how_sure_it_is():
    first, second, *others = lines(told_of([saving(1), saving(2, 30.0)]).main)
    assert first == "$50.00 a month can be saved: 50 % of the $100 that these 2 volumes cost"
    assert "Plimsoll compares how much cloud disks are used with their cost" in second
    (money,) = (line for line in others if "same-limits" in line)
    assert money.startswith("$25.00 with same-limits replacements alone; $25.00 more with reductions. ")
    assert "carry every minute of the last 14 days with 20 % headroom" in money


def test_what_plimsoll_is_stands_in_a_channels_first_report_and_in_no_later_one():
    first, (later, compared) = told([saving(1)]), (told([saving(1)], **given) for given in LATER)
    assert "Plimsoll compares" in first
    assert "Plimsoll compares" not in later + compared
    assert set(first.splitlines()) > set(later.splitlines())


def test_a_volume_is_named_with_its_change_its_money_its_evidence_and_its_risk():
    record = saving(1, evidence=EvidenceRecord(grade="A", envelope=None, text="measured"))
    shown = told([record])
    place = f"in {record.account}, us-east-1"
    assert f"1. Saves $20.00 a month: disk-1 {place}\n{record.current.type} " in shown
    assert " → gp3 " in shown
    assert "\nProved (evidence A: measured here). Risk: 1 %. vol-0001\n" in shown
    assert f"1. Saves $20.00 a month: vol-0001 {place}\n" in told([record.model_copy(update={"name": None})])


def test_the_name_of_a_volume_is_as_prominent_as_its_money():
    rows = [block for block in told_of([saving(1)]).main.blocks if "disk-1" in json.dumps(block)]
    first = rows[0]["elements"][0]["elements"][0]
    assert first == {"type": "text", "text": "1. Saves $20.00 a month: disk-1", "style": {"bold": True}}


def test_what_to_do_first_is_told_with_its_money():
    evidence = EvidenceRecord(grade="B", envelope=None, text="measured")
    records = [
        saving(1, evidence=evidence),
        saving(2, 30.0, evidence=EvidenceRecord(grade="C", envelope=None, text="published")),
        saving(3, 5.0, evidence=evidence).model_copy(update={"cuts": []}),
        saving(4, 7.0, evidence=evidence),
        saving(5, 9.0, evidence=evidence, losses=[LossRecord(code="durability", now="99.999 %", then="99.8 %")]),
    ]
    assert [line for line in told(records).splitlines() if re.search("volumes?, saves", line)] == [
        "Take now, nothing given up: 1 volume, saves $5.00 a month ($2.50 with the same limits).",
        "Decide what may be given up: 1 volume, saves $9.00 a month ($4.50 with the same limits).",
        "Change what measurements prove: 2 volumes, saves $27.00 a month ($13.50 with the same limits).",
        "Measure first, then change: 1 volume, saves $30.00 a month ($15.00 with the same limits).",
    ]


def test_what_this_run_recommends_first_is_marked_as_new():
    record = saving(1)
    shown = told([record, saving(2, 10.0)], new={f"{record.account}/us-east-1/vol-0001"})
    assert "1. Saves $20.00 a month, new: disk-1" in shown
    assert "2. Saves $10.00 a month: disk-2" in shown


def test_the_ten_that_save_most_are_shown_and_the_others_are_counted_with_their_money():
    shown = told([saving(number, 10.0 + number) for number in range(25)])
    assert "The 10 that save most, of 25 volumes that save" in shown
    assert "1. Saves $34.00 a month: disk-24" in shown
    assert "10. Saves $25.00 a month: disk-15" in shown
    assert "15 more volumes, which save $255 a month together: the largest are in the thread" in shown


def test_a_volumes_buttons_are_in_a_block_of_its_name():
    record = saving(1, evidence=EvidenceRecord(grade="A", envelope=None, text="measured"))
    guessed = saving(2, evidence=EvidenceRecord(grade="C", envelope=None, text="published"))
    found = pressed(told_of([record, guessed]).main)
    assert found == {
        f"volume:{record.account}/us-east-1/vol-0001": ["explain", "probe", "snooze", "done", "exclude"],
        f"volume:{record.account}/us-east-1/vol-0002": ["explain", "validate", "probe", "snooze", "done", "exclude"],
    }


def test_without_acting_there_is_no_button_but_the_reports():
    found = told_of([saving(1)], acting=False, link="https://reports.example.org/1")
    assert [pressed(message) for message in messages(found)] == [{}, {}]
    buttons = [one for block in found.main.blocks if block["type"] == "actions" for one in block["elements"]]
    assert [(one["action_id"], one["url"]) for one in buttons] == [(OPEN_REPORT, "https://reports.example.org/1")]


def test_where_nothing_can_be_threaded_the_rest_is_in_the_report():
    found = told_of([saving(number) for number in range(12)], acting=False, threaded=False)
    assert found.replies == ()
    assert "2 more volumes, which save $40.00 a month together: they are in the report." in said(found.main)


def test_a_report_that_no_browser_opens_is_named_and_not_linked():
    found = told_of([], link="s3://bucket/runs/1/report.html").main
    assert "Its report: s3://bucket/runs/1/report.html" in said(found)
    assert not [block for block in found.blocks if block["type"] == "actions"]


def test_what_is_throttled_comes_before_the_savings_with_its_worst():
    worst = a_record("upgrade", name="wiki", volume_id="vol-w", monthly_usd_saved=-4.0)
    demand = worst.demand.model_copy(update={"throttled_minutes": 1.0})
    shown = told([saving(1), a_record("upgrade", volume_id="vol-v", demand=demand, monthly_usd_saved=-3.0), worst])
    told_here = next(line for line in shown.splitlines() if "throttled today" in line)
    assert told_here.startswith("Speed up volumes throttled today: 2 volumes, costs $7.00 a month more. Worst is wiki")
    assert ", costs $4.00 a month more. Throttled in" in told_here
    assert shown.index("throttled today") < shown.index("1. Saves")


def test_speed_that_costs_nothing_is_not_among_those_that_cost_more():
    cheaper = a_record("upgrade", name="wiki", volume_id="vol-w", monthly_usd_saved=3.0)
    dearer = a_record("upgrade", volume_id="vol-v", monthly_usd_saved=-4.0)
    shown = told([cheaper, dearer])
    assert "2 volumes, saves $3.00 a month; others cost $4.00 a month more." in shown


def test_who_blocks_how_much_is_told_with_the_most_money_first():
    def by(code, owner, usd, number):
        owned = OwnerRecord(kind="operator", name=owner)
        return saving(number, usd, blockers=[BlockerRecord(code=code, text="no")], owner=owned)

    shown = told(
        [by("operator-managed", "kafka", 8.0, 1), by("operator-managed", "kafka", 9.0, 2), by("shrink", "eks", 30.0, 3)]
    )
    assert (
        "Blocked today: $30.00 on 1 volume which cannot shrink (managed by eks); "
        "$17.00 on 2 volumes whose operator refuses changes by others (managed by kafka)." in shown
    )
    assert "$47.00 of the saving is blocked today" in shown
    assert "Blocked today: no." in shown


def test_what_is_attached_to_nothing_is_told_with_what_it_costs():
    record = a_record("detached", monthly_usd_now=12.5)
    shown = told([record])
    assert "$12.50 a month for volumes attached to nothing" in shown
    assert "Look at unattached volumes: 1 volume, costs $12.50 a month." in shown


def test_what_could_not_be_read_is_told_with_the_reason_and_the_rest_counted():
    places = {f"{number:012}/us-east-1": f"AccessDenied {number}: " + "x" * 500 for number in range(10)}
    shown = told([saving(1)], run={"status": "partial", "failures": {"targets": places, "volumes": {}}})
    assert "Not in these figures, because unreadable: 10 places.\n" in shown
    assert "In 000000000000/us-east-1, everything: Acc" in shown
    assert "8 more such lines are in run.json." in shown
    assert shown.endswith(" UTC, partial.")


def test_places_that_could_not_be_read_for_one_reason_are_one_line():
    places = {f"{number:012}/us-east-1": "AccessDenied: no role" for number in range(300)}
    shown = told([saving(1)], run={"status": "partial", "failures": {"targets": places, "volumes": {}}})
    assert shown.count("AccessDenied: no role") == 1
    assert "300 places" in shown
    assert "000000000000/us-east-1, " in shown
    assert "000000000299/us-east-1" not in shown


def test_what_is_new_and_done_since_is_the_runs_own_word_or_what_is_given():
    history = {"new": 3, "snoozed": 0, "done": 2, "done_now": 2, "saved_usd_month_since": 40.0}
    assert "3 recommendations are new; 2 volumes have been changed as recommended, which saves $40.00" in told(
        [saving(1)], run={"history": history}
    )
    shown = told([saving(1)], run={"history": history}, part="payments", since="1 recommendation of yours is new.")
    assert "1 recommendation of yours is new." in shown
    assert "3 recommendations are new" not in shown


def test_a_part_says_of_what_it_is_and_names_the_failures_of_its_accounts_alone():
    record = saving(1)
    places = {record.account + "/eu-west-1": "denied", "999999999999/eu-west-1": "denied", "profile x": "expired"}
    run = {"failures": {"targets": places, "volumes": {}}}
    shown = told([record], run=run, part="owner payments")
    assert "This report covers owner payments only." in shown
    assert "unreadable: 1 place." in shown
    assert "unreadable: 2 places." in told([record], run=run, part="x", accounts=["999999999999"])
    assert "unreadable: 3 places." in told([record], run=run)


def test_a_snoozed_volume_is_counted_and_not_listed():
    record, other = saving(1), saving(2, 10.0)
    found = told_of([record, other], quiet={f"{record.account}/us-east-1/vol-0001"})
    shown = said(messages(found)[0])
    assert "$30.00 a month can be saved" in shown
    assert "disk-1" not in shown
    assert "1 volume that somebody set aside (snoozed, done or excluded) is not listed." in shown


def test_a_thread_has_a_reply_for_each_of_the_accounts_that_save_most_and_one_for_the_others():
    records = [saving(number, 10.0 + number, account=f"{number:012}") for number in range(60)]
    idle = a_record("keep", account="999999999999", monthly_usd_saved=0.0)
    found = told_of([*records, idle])
    replies = [reply for reply in found.replies if reply.key != "buttons"]
    assert [reply.key for reply in replies] == [f"{number:012}" for number in range(59, 51, -1)] + ["more"]
    first, last = replies[0].message, replies[-1].message
    assert "Account 000000000059: $69.00 a month can be saved" in said(first)
    assert "1. Saves $69.00 a month: disk-59" in said(first)
    assert list(pressed(first)) == ["volume:000000000059/us-east-1/vol-0059"]
    money = sum(10.0 + number for number in range(52))
    assert f"52 more accounts with something to do: 52 volumes save {usd(money)} a month there." in said(last)
    messages(found)


def test_an_accounts_reply_names_its_own_failures_and_gives_throttled_volumes_their_buttons():
    upgrade = a_record("upgrade", account="111111111111", volume_id="vol-slow", monthly_usd_saved=-3.0)
    places = {"111111111111/eu-west-1": "denied", "222222222222/eu-west-1": "denied"}
    run = {"failures": {"targets": places, "volumes": {}}}
    (reply,) = told_of([upgrade], run=run).replies
    assert "unreadable: 1 place.\n" in said(reply.message)
    assert "In 111111111111/eu-west-1, everything: denied" in said(reply.message)
    assert "222222222222" not in said(reply.message)
    assert list(pressed(reply.message)) == ["volume:111111111111/us-east-1/vol-slow"]


def test_volumes_of_a_stripe_set_have_their_own_part_of_the_money():
    (whole,) = special_records()["stripes"]
    shown = told([whole])
    assert f"{usd(whole.monthly_usd_saved)} a month can be saved" in shown
    assert "Changed together with its stripe set of 2 volumes." in shown


def test_a_run_without_an_answer_does_not_explain_savings():
    shown = told([])
    assert shown.splitlines()[0] == "No volumes were found"
    assert "Plimsoll compares" not in shown


@pytest.mark.parametrize(
    ("records", "run", "words"),
    [
        ([], {}, ["No volumes were found"]),
        (
            [],
            {"status": "partial", "volumes": {"seen": 9, "answered": 0, "skipped": {}, "failed": 9}},
            ["No volume could be judged: 9 volumes"],
        ),
        ([], {"status": "running"}, ["No volume has been judged yet", "The run has not ended"]),
        ([saving(1)], {"status": "interrupted"}, ["The run was interrupted", "UTC, interrupted."]),
        (special_records()["no prices"], {}, ["No price is known for these 2 volumes"]),
        (special_records()["keeps"], {}, ["Nothing can be saved on these 3 volumes"]),
    ],
)
def test_runs_that_found_little_read_well(records, run, words):
    shown = told(records, run=run)
    for word in words:
        assert word in shown


@pytest.mark.parametrize("named", special_records())
def test_runs_at_the_edge_make_messages_that_slack_takes(named):
    assert messages(told_of(special_records()[named]))


def test_a_run_on_disk_is_read_once_and_told_the_same_each_time(tmp_path):
    run = a_run(tmp_path / "run", a_fleet(40), unanswered=[an_unanswered("vol-f")], status="partial")
    found = run_conversation(run)
    messages(found)
    assert "unreadable: 1 volume.\n" in said(found.main)
    assert "In 111122223333/us-east-1, vol-f: AccessDenied" in said(found.main)
    assert found.payload == run_conversation(run).payload
    assert json.loads(json.dumps(found.payload)) == found.payload
    part = run_conversation(run, lambda record: record.account == "111111111111", "one account")
    assert [reply.key for reply in part.replies] == ["111111111111"]


def test_a_screen_reader_tells_every_button_from_every_other():
    graded = EvidenceRecord(grade="C", envelope=None, text="published")
    found = told_of([saving(number, evidence=graded) for number in range(3)], link="https://reports.example.org/1")
    for message in messages(found):
        buttons = [
            (element.get("accessibility_label", element["text"]["text"]))
            for block in message.blocks
            if block["type"] == "actions"
            for element in block["elements"]
            if element["type"] == "button"
        ]
        assert len(buttons) == len(set(buttons))
        assert {"Explain vol-0000", "Validate vol-0002"} <= set(buttons)
