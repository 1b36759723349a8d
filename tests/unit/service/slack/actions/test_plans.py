"""Plans of changes in Slack: shown with a button, and approved by the members that the settings name."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.clouds.local_store import FolderStore
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind
from plimsoll_change.plan_files import keep_plan, parse_rules
from plimsoll_service.change_plans import LEDGERS
from plimsoll_service.change_words import PersonWord, words_key
from plimsoll_service.slack.actions.plans import present_plan
from plimsoll_service.slack.requests.payloads import Pressed, button_request
from plimsoll_service.slack.requests.signed import Refused
from tests.slack.limits import check_message
from tests.slack.signing import pressed
from tests.slack.workspace import MEMBER
from tests.unit.change.memory import NOW, MovedClock, a_line, a_plan

from .asking import SLACK, a_workplace

RULES = {"approvers": ["ada", "grace"], "two_people_above_usd_month": 1000.0}


@pytest.fixture
def workplace(tmp_path):
    """A service with a plan, in which the member is ada."""
    LEDGERS.clear()
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


def press(workplace, plan, **fields):
    return workplace.ask("approve", volume=None, plan=plan.id, digest=plan.digest, **fields)


def test_a_plan_is_shown_with_what_it_does_and_a_button_that_asks_first(workplace):
    plan = a_stored_plan(workplace, *(a_line(number) for number in range(1, 15)))
    message = present_plan(plan.id, workplace.service)
    check_message(message.payload)
    (row,) = [block for block in message.blocks if block["type"] == "actions"]
    (button,) = row["elements"]
    assert (row["block_id"], button["action_id"], button["value"]) == (f"plan:{plan.id}", "approve", plan.digest)
    assert "changes the volumes" in button["confirm"]["text"]["text"]
    workplace.ask("changes", volume=None, plan=plan.id)
    (said,) = workplace.replies
    assert "14 volumes change in waves, which saves $4,900 a month" in said
    assert "And 4 more" in said
    assert "is approved by nobody" in said


def test_an_expired_plan_has_no_button(workplace):
    plan = a_stored_plan(workplace)
    workplace.service.clock.time = NOW + timedelta(days=20)
    message = present_plan(plan.id, workplace.service)
    assert not any(block["type"] == "actions" for block in message.blocks)


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
    ledger = ChangeLedger(store=workplace.service.facts, plan=plan)
    ledger.add(PLAN_ROW, Fact(kind=FactKind.APPROVED, at=NOW, by="grace", digest=plan.digest))
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


@pytest.mark.parametrize(("block_id", "value"), [("volume:x", "d"), ("plan:../x", "d"), ("plan:run-1", ""), ("", "d")])
def test_a_row_that_names_no_plan_is_refused(block_id, value):
    with pytest.raises(Refused) as refused:
        button_request(Pressed.model_validate(by_button(block_id, value)))
    assert "names no plan" in str(refused.value)
