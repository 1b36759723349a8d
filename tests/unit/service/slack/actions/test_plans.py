"""Plans of changes in Slack: shown with buttons, approved and continued by approvers, stopped by everybody."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.clouds.local_store import FolderStore
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind
from plimsoll_change.plan_files import keep_plan, parse_rules
from plimsoll_service.change_words import PersonWord, words_key
from plimsoll_service.slack.actions.plans import present_plan
from plimsoll_service.slack.requests.payloads import Pressed, button_request
from plimsoll_service.slack.requests.signed import Refused
from tests.slack.limits import check_message
from tests.slack.signing import pressed
from tests.slack.workspace import GROUP, MEMBER
from tests.unit.change.memory import NOW, MovedClock, a_line, a_plan

from .asking import SLACK, STRANGER, a_workplace

RULES = {"approvers": ["ada", "grace"], "two_people_above_usd_month": 1000.0}


@pytest.fixture
def workplace(tmp_path):
    """A service with a plan, in which the member is ada."""
    slack = {**SLACK, "approvers": {MEMBER: "ada"}}
    with a_workplace(tmp_path, slack=slack, change_rules=RULES) as found:
        facts = FolderStore(tmp_path / "facts")
        found.service = replace(found.service, facts=facts, clock=MovedClock())
        yield found


def a_stored_plan(workplace, *lines, **rules):
    plan = a_plan(*lines, rules=parse_rules({**RULES, **rules}, "rules"))
    keep_plan(workplace.service.facts, plan)
    return plan


def words(workplace, plan):
    keys = workplace.service.facts.keys(words_key(plan.id))
    return {key.removeprefix(words_key(plan.id)): workplace.service.facts.get(key) for key in keys}


def press(workplace, plan, do="approve", **fields):
    return workplace.ask(do, volume=None, plan=plan.id, **{"digest": plan.digest, **fields})


def note(workplace, plan, kind, row=PLAN_ROW, **fields):
    """A fact that a pass or somebody else wrote."""
    ledger = ChangeLedger(store=workplace.service.facts, plan=plan)
    ledger.read()
    ledger.add(row, Fact(kind=kind, at=workplace.service.clock.now(), **fields))


def approved(workplace, *lines, **rules):
    """A plan that is being carried out."""
    plan = a_stored_plan(workplace, *lines, **rules)
    note(workplace, plan, FactKind.APPROVED, by="ada", digest=plan.digest)
    return plan


def buttons(workplace, plan):
    """The buttons below the plan as it is shown: what each asks for, and its value."""
    message = present_plan(plan.id, workplace.service)
    check_message(message.payload)
    rows = [block for block in message.blocks if block["type"] == "actions"]
    assert {row["block_id"] for row in rows} <= {f"plan:{plan.id}"}
    return {button["action_id"]: button["value"] for row in rows for button in row["elements"]}


def test_a_plan_is_shown_with_what_it_does_and_buttons_that_ask_first(workplace):
    plan = a_stored_plan(workplace, *(a_line(number) for number in range(1, 15)))
    assert buttons(workplace, plan) == {"approve": plan.digest, "stop": plan.digest}
    (row,) = [block for block in present_plan(plan.id, workplace.service).blocks if block["type"] == "actions"]
    questions = [button["confirm"]["text"]["text"] for button in row["elements"]]
    assert "changes the volumes" in questions[0]
    assert "for ever" in questions[1]
    workplace.ask("changes", volume=None, plan=plan.id)
    (said,) = workplace.replies
    assert "14 volumes change in waves, which saves $4,900 a month" in said
    assert "And 4 more" in said
    assert "is approved by nobody" in said


def test_an_expired_plan_has_no_button(workplace):
    plan = a_stored_plan(workplace)
    workplace.service.clock.time = NOW + timedelta(days=20)
    assert buttons(workplace, plan) == {}


def test_a_press_is_the_members_word_for_the_plan_as_it_was_shown_once(workplace):
    plan = a_stored_plan(workplace)
    press(workplace, plan, request="the-press")
    press(workplace, plan, request="the-press")
    ((name, content),) = words(workplace, plan).items()
    assert name == "ada/slack-the-press.json"
    word = PersonWord.model_validate_json(content)
    assert (word.say, word.digest, word.accepts_late_back) == ("approve", plan.digest, False)
    assert f"@{MEMBER} approves the plan {plan.id} as ada" in workplace.replies[0]
    assert "within ten minutes" in workplace.replies[0]
    assert "nothing is done twice" in workplace.replies[1]


def test_above_the_amount_the_first_of_two_is_told_that_another_is_needed(workplace):
    plan = a_stored_plan(workplace, *(a_line(number) for number in range(1, 5)))
    press(workplace, plan)
    assert "another is needed" in workplace.replies[0]
    note(workplace, plan, FactKind.APPROVED, by="grace", digest=plan.digest)
    press(workplace, plan)
    assert "within ten minutes" in workplace.replies[1]


def test_who_approves_volumes_that_cannot_go_back_within_a_day_accepts_that(workplace):
    line = a_line()
    large = replace(line.now, size_gib=4000), replace(line.then, size_gib=4000)
    plan = a_stored_plan(workplace, replace(line, now=large[0], then=large[1], back=large[0]))
    assert plan.late_back
    assert "accepts that" in str(present_plan(plan.id, workplace.service).payload)
    press(workplace, plan)
    (content,) = words(workplace, plan).values()
    assert PersonWord.model_validate_json(content).accepts_late_back


@pytest.mark.parametrize(
    ("rules", "digest", "late_days", "said"),
    [
        ({"approvers": ["grace"]}, None, 0, "ada approves no changes: the plan's rules name grace."),
        ({}, "0" * 64, 0, "the digest is not that of the plan"),
        ({}, None, 20, "expired"),
    ],
)
def test_an_approval_that_would_count_for_nothing_is_refused_at_once(rules, digest, late_days, said, workplace):
    plan = a_stored_plan(workplace, **rules)
    workplace.service.clock.time += timedelta(days=late_days)
    workplace.ask("approve", volume=None, plan=plan.id, digest=digest or plan.digest)
    assert said in workplace.quietly[0]
    assert words(workplace, plan) == {}


def test_a_member_without_a_name_among_the_approvers_is_told_so(workplace):
    plan = a_stored_plan(workplace)
    config = workplace.service.config.model_copy(
        update={"slack": workplace.service.config.slack.model_copy(update={"approvers": {}})}
    )
    workplace.service = replace(workplace.service, config=config)
    press(workplace, plan)
    assert "You approve no changes here" in workplace.quietly[0]
    assert words(workplace, plan) == {}


def test_what_is_carried_out_can_be_stopped_and_goes_on_where_it_is_paused_or_a_class_stopped(workplace):
    plan = approved(workplace)
    (row,) = plan.class_rows.values()
    assert buttons(workplace, plan) == {"stop": plan.digest}
    note(workplace, plan, FactKind.STOPPED, row, code="worse", text="vol-0001: it is worse.")
    assert list(buttons(workplace, plan)) == ["go-on", "stop"]
    assert "vol-0001: it is worse." in str(present_plan(plan.id, workplace.service).payload)
    note(workplace, plan, FactKind.RESUMED, row, by="ada")
    assert list(buttons(workplace, plan)) == ["stop"]
    note(workplace, plan, FactKind.PAUSED, text="2 alarms by comparison.")
    assert list(buttons(workplace, plan)) == ["go-on", "stop"]
    note(workplace, plan, FactKind.STOPPED, by="eve", text="no reason was given.")
    assert buttons(workplace, plan) == {}


def test_everybody_who_may_use_plimsoll_stops_a_plan_once(workplace):
    workplace.slack.there.groups[GROUP].append(STRANGER)
    plan = approved(workplace)
    for _ in range(2):
        press(workplace, plan, "stop", user=STRANGER, request="the-press")
    ((name, content),) = words(workplace, plan).items()
    assert name == f"slack-{STRANGER}/slack-the-press.json"
    assert PersonWord.model_validate_json(content).say == "stop"
    assert f"@{STRANGER} stops the plan {plan.id} as slack-{STRANGER}." in workplace.replies[0]
    assert "within ten minutes" in workplace.replies[0]
    assert "nothing is done twice" in workplace.replies[1]


def test_who_may_not_use_plimsoll_stops_nothing(workplace):
    plan = approved(workplace)
    press(workplace, plan, "stop", user=STRANGER)
    assert "Only members of certain user groups" in workplace.quietly[0]
    assert words(workplace, plan) == {}


def test_an_approver_lets_a_paused_plan_go_on_once_and_anew_when_it_pauses_again(workplace):
    plan = approved(workplace)
    for pause in (1, 2):
        note(workplace, plan, FactKind.PAUSED, text="2 alarms by comparison.")
        value = buttons(workplace, plan)["go-on"]
        press(workplace, plan, "go-on", digest=value)
        assert f"@{MEMBER} lets the plan {plan.id} go on as ada." in workplace.replies[-1]
        assert len(words(workplace, plan)) == pause
        note(workplace, plan, FactKind.RESUMED, by="ada")
        press(workplace, plan, "go-on", digest=value)
        assert "has stopped or gone on since" in workplace.quietly[-1]
        assert len(words(workplace, plan)) == pause


def test_what_is_no_approver_s_lets_nothing_go_on(workplace):
    workplace.slack.there.groups[GROUP].append(STRANGER)
    plan = approved(workplace)
    note(workplace, plan, FactKind.PAUSED, text="2 alarms by comparison.")
    press(workplace, plan, "go-on", user=STRANGER, digest=buttons(workplace, plan)["go-on"])
    assert "You approve no changes here" in workplace.quietly[0]
    assert words(workplace, plan) == {}


@pytest.mark.parametrize("do", ["approve", "go-on", "stop"])
def test_no_word_counts_on_a_plan_that_is_stopped(do, workplace):
    plan = approved(workplace)
    note(workplace, plan, FactKind.STOPPED, by="eve", text="a release.")
    press(workplace, plan, do)
    assert "stopped 2026-11-02 08:00 UTC by eve: a release." in workplace.quietly[0]
    assert words(workplace, plan) == {}


def test_a_plan_that_is_not_there_and_a_service_without_changes_say_so(workplace):
    workplace.ask("changes", volume=None, plan="never")
    assert "there is no plan never" in workplace.quietly[0]
    workplace.service = replace(workplace.service, facts=None)
    workplace.ask("changes", volume=None, plan="never")
    assert "with_changes=true" in workplace.quietly[1]


def by_button(block_id, value):
    event = pressed("approve", "ignored", ts="1.1")
    event["actions"][0] |= {"block_id": block_id, "value": value}
    return event


def test_each_members_press_is_a_request_of_its_own_and_the_same_again():
    event = by_button("plan:run-1", "d" * 64)
    ben = event | {"user": {"id": "U0BEN", "team_id": "T0PLIMSOLL"}}
    asked, again, other = (button_request(Pressed.model_validate(each)) for each in (event, event, ben))
    assert (asked.plan, asked.digest, asked.volume) == ("run-1", "d" * 64, None)
    assert asked.id == again.id != other.id


def test_a_word_to_go_on_is_a_request_of_its_own_for_each_state_that_was_shown():
    events = [by_button("plan:run-1", f"{'d' * 64}.{halts}") for halts in (1, 1, 3)]
    for event in events:
        event["actions"][0]["action_id"] = "go-on"
    first, again, later = (button_request(Pressed.model_validate(event)) for event in events)
    assert (first.do, first.digest) == ("go-on", f"{'d' * 64}.1")
    assert first.id == again.id != later.id


@pytest.mark.parametrize(("block_id", "value"), [("volume:x", "d"), ("plan:../x", "d"), ("plan:run-1", ""), ("", "d")])
def test_a_row_that_names_no_plan_is_refused(block_id, value):
    with pytest.raises(Refused) as refused:
        button_request(Pressed.model_validate(by_button(block_id, value)))
    assert "names no plan" in str(refused.value)
