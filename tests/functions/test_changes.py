"""The functions of changes, with the events that the state machine sends them: plans, words of people, passes."""

import json
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from unittest.mock import patch

import jsonschema
import pytest

from functions import apply_changes, entry_point, plan_changes
from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.errors import AccessDenied, BadInput, Throttled
from plimsoll.reports.run_reader import matched_records
from plimsoll_change import planning
from plimsoll_change.ledger import FactKind
from plimsoll_change.plan_files import PLAN_FILE
from plimsoll_service import change_planning
from plimsoll_service.change_plans import OpenPlan, open_document
from plimsoll_service.change_words import words_key
from plimsoll_service.events import event_schema
from tests.builders import a_host, a_volume
from tests.functions.calls import Context, ask
from tests.functions.changing import RULES, ChangedPlaces, Changing, Tagged
from tests.in_memory.service import MemoryEvents
from tests.service_loop import Loop
from tests.unit.change.memory import (
    GP3,
    IO1,
    MovedClock,
    a_line,
    a_verdict,
)
from tests.unit.service.places import ACCOUNT, NOW, places_of, service_of


@pytest.fixture
def some_lines():
    return [a_line(number) for number in range(1, 6)]


def test_an_unapproved_plan_does_nothing_and_says_why(tmp_path):
    changing_one = Changing(tmp_path)
    (answer,) = changing_one.execute()
    assert (answer["plan"], answer["under_way"]) == ("run-1", 0)
    assert "approved by nobody" in answer["halt"]
    assert changing_one.changer.asked == []
    assert changing_one.facts() == ()


def test_a_file_approves_and_passes_of_new_processes_carry_the_whole_plan_out(tmp_path, some_lines):
    world = Changing(tmp_path, *some_lines)
    world.say("ada", say="approve", reason="board of Monday")
    world.run(days=24)
    assert sorted(name for name, spec, _ in world.changer.asked) == [line.volume_id for line in some_lines]
    assert {spec for _, spec, _ in world.changer.asked} == {GP3}
    assert world.codes()[:2] == [("approved", "", "ada"), ("said", "approve", "ada")]
    assert world.facts()[0].text == "board of Monday"
    assert {world.facts(line.id)[-1].kind for line in some_lines} == {FactKind.WATCHED}
    assert open_document(world.plan.id).get(world.service.store) is None, "it has expired, and nothing is under way"
    assert world.execute() == []


def test_a_worse_volume_goes_back_by_itself(tmp_path):
    world = Changing(tmp_path)
    world.judge.told = {"vol-0001": a_verdict("worse", is_direct=True)}
    world.say("ada", say="approve")
    world.run(days=2)
    assert [spec for _, spec, _ in world.changer.asked] == [GP3, IO1]


def test_what_was_judged_lasts_from_process_to_process(tmp_path):
    world = Changing(tmp_path)
    judged = []

    def judge_lines(_progress, jobs, now):
        judged.append(now)
        return {job.line.id: a_verdict() for job in jobs}

    world.judge.judge_lines = judge_lines
    world.say("ada", say="approve")
    world.run(hours=12)
    assert len(judged) > 5
    early = [after for before, after in pairwise(judged) if after - before < timedelta(minutes=50)]
    assert len(early) == 1, "judged by the hour, and once more as the change arrives"


def test_a_plan_that_is_watched_alone_is_looked_at_every_hour_and_at_once_when_somebody_speaks(tmp_path):
    world = Changing(tmp_path)
    world.say("ada", say="approve")
    world.run(hours=12)
    while not world.execute():
        world.clock.pause(600)
    for _ in range(5):
        world.clock.pause(600)
        assert world.execute() == []
    world.say("grace", say="back", reason="the team asks")
    assert len(world.execute()) == 1
    assert [spec for _, spec, _ in world.changer.asked] == [GP3, IO1]
    (back,) = (fact for fact in world.facts("line-0001") if fact.kind is FactKind.TAKEN_BACK)
    assert (back.code, back.by, back.text) == ("asked", "grace", "the team asks")


def test_above_an_amount_two_people_approve_whichever_way_each_of_them_does(tmp_path):
    world = Changing(tmp_path, *(a_line(number, usd_month_now=3000.0) for number in (1, 2)))
    world.say("ada", say="approve")
    world.say("ada", "slack-2", say="approve")
    world.run(minutes=30)
    assert world.changer.asked == []
    world.say("grace", say="approve")
    world.run(minutes=10)
    assert len(world.changer.asked) == 1


@pytest.mark.parametrize(
    ("by", "word", "said"),
    [
        ("eve", {"say": "approve"}, "eve approves no changes"),
        ("ada", {"say": "approve", "digest": "0" * 64}, "the digest is not that of the plan run-1"),
        ("ada", {"say": "go-on", "change_class": "none"}, "the plan has no class none"),
        ("ada", {"say": "back", "volume_ids": ["vol-9999"]}, "has none of these volumes"),
        ("eve", {"say": "back"}, "eve approves no changes"),
    ],
)
def test_a_word_that_counts_for_nothing_is_refused_in_the_ledger_once(by, word, said, tmp_path):
    world = Changing(tmp_path)
    world.say(by, **word)
    world.run(minutes=30)
    (fact,) = world.facts()
    assert (fact.kind, fact.code, fact.by, fact.source) == (FactKind.SAID, "refused", by, f"{by}/1.json")
    assert said in fact.text
    assert world.changer.asked == []


@pytest.mark.parametrize("content", [b"", b"yes", b'{"say": "approve", "more": 1}', b"[]", b"{" + b" " * 20_000])
def test_a_file_that_is_no_word_is_refused(content, tmp_path):
    world = Changing(tmp_path)
    world.service.facts.put_new(words_key(world.plan.id, "ada", "1"), content)
    world.execute()
    assert world.codes() == [("said", "refused", "ada")]


def test_a_person_whom_the_service_no_longer_names_cannot_approve_an_older_plan(tmp_path):
    world = Changing(tmp_path, rules={"approvers": ["ada", "grace", "mallory"]})
    world.say("mallory", say="approve")
    world.execute()
    assert "the service's rules name ada, grace" in world.facts()[0].text


def test_an_approval_after_the_end_of_a_plan_is_refused(tmp_path):
    world = Changing(tmp_path)
    world.clock.pause(15 * 86_400)
    world.say("ada", say="approve")
    world.execute()
    assert "expired" in world.facts()[0].text


def test_the_switch_ends_what_has_not_begun_for_ever(tmp_path, some_lines):
    world = Changing(tmp_path, *some_lines)
    world.say("ada", say="approve")
    world.execute()
    world.killed = True
    world.run(hours=1)
    world.killed = False
    world.run(days=24)
    assert len(world.changer.asked) == 1
    assert ("stopped", "switch", "") in world.codes()
    begun = [line.id for line in some_lines if world.facts(line.id)]
    assert {world.facts(name)[-1].kind for name in begun} == {FactKind.WATCHED}, "what had begun is watched to its end"


def test_the_switch_is_looked_at_before_each_line(tmp_path):
    lines = [a_line(number, change_class=f"class {number}") for number in (1, 2, 3)]
    world = Changing(tmp_path, *lines)
    world.say("ada", say="approve")
    world.service = replace(world.service, is_killed=lambda: bool(world.changer.asked))
    world.execute()
    assert len(world.changer.asked) == 1
    world.execute()
    assert len(world.changer.asked) == 1
    assert world.codes()[-1] == ("stopped", "switch", "")


def test_a_switch_that_cannot_be_read_lets_nothing_begin(tmp_path):
    world = Changing(tmp_path)
    world.say("ada", say="approve")

    def is_killed():
        raise Throttled("ssm:GetParameter is throttled.")

    world.service = replace(world.service, is_killed=is_killed)
    with pytest.raises(Throttled):
        world.execute()
    assert world.changer.asked == []


def test_everybody_may_stop_a_plan_and_only_approvers_let_it_go_on(tmp_path):
    world = Changing(tmp_path)
    world.say("ada", say="approve")
    world.say("eve", say="stop")
    world.run(minutes=20)
    assert world.changer.asked == []
    assert ("stopped", "", "eve") in world.codes()


def test_a_paused_plan_goes_on_when_an_approver_says_so_once(tmp_path):
    classes = ["io1 to gp3, hand", "gp2 to gp3, hand", "st1 to gp3, hand"]
    lines = [a_line(10 * place + number, change_class=name) for place, name in enumerate(classes) for number in (1, 2)]
    world = Changing(tmp_path, *lines, rules={"expires_days": 60, "two_people_above_usd_month": None})
    for name in ("vol-0001", "vol-0011"):
        world.judge.told[name] = a_verdict("worse")
    world.say("ada", say="approve")
    world.run(days=1)
    assert world.codes()[-1][0] == "paused"
    world.run(days=10)
    before = len(world.changer.asked)
    world.say("ada", "2", say="go-on", reason="a release")
    world.run(days=1)
    assert len(world.changer.asked) > before
    assert [code for code in world.codes() if code[0] == "resumed"] == [("resumed", "", "ada")]


def test_two_executions_do_not_take_a_pass_of_the_same_plan(tmp_path):
    world = Changing(tmp_path)
    world.say("ada", say="approve")
    world.service.claims.claim("change/plan/run-1", "service-other", world.clock.now() + timedelta(minutes=16), NOW)
    (answer,) = world.execute()
    assert answer["halt"] == "another execution takes a pass of it."
    assert world.changer.asked == []
    world.clock.pause(17 * 60)
    world.execute()
    assert len(world.changer.asked) == 1


def test_an_altered_plan_does_nothing(tmp_path):
    world = Changing(tmp_path)
    key = f"{world.plan.id}/{PLAN_FILE}"
    altered = world.service.facts.get(key).replace(b'"iops": 4000', b'"iops": 3000')
    FolderStore(tmp_path / "facts").put(key, altered)
    world.say("ada", say="approve")
    with pytest.raises(BadInput, match="was altered"):
        world.execute()
    assert world.changer.asked == []


def test_a_service_without_changes_says_so(tmp_path):
    world = Changing(tmp_path)
    world.service = replace(world.service, facts=None)
    open_document("other").put(world.service.store, OpenPlan(due=world.clock.now() + timedelta(days=1)))
    with pytest.raises(BadInput, match="with_changes=true"):
        world.execute()


WORSE = a_verdict("worse", is_direct=True, slower_pct=31.2, stopped_minutes=40.0, hours_watched=26)


class Ended(Exception):
    """The process ends here."""


class EndingEvents(MemoryEvents):
    """The process ends at one of its events: before it is sent, or before anything else is done."""

    def __init__(self, at, is_sent):
        super().__init__()
        self.left, self.is_sent = at, is_sent

    def send(self, events):
        self.left -= 1
        if self.left == 0 and not self.is_sent:
            raise Ended
        super().send(events)
        if self.left == 0:
            raise Ended


def test_what_a_pass_brings_is_told_once_with_the_reason_and_the_figures(tmp_path, some_lines):
    world = Changing(tmp_path, *some_lines)
    world.judge.told = {"vol-0001": WORSE}
    world.say("ada", say="approve")
    world.run(days=24)
    events = world.events
    for event in events:
        jsonschema.validate(event, event_schema("ChangesProgressed"), cls=jsonschema.Draft202012Validator)
    assert len({event["id"] for event in events}) == len(events)
    assert world.news() == [
        ("stopped", "io1 to gp3, hand is stopped"),
        ("taken-back", "vol-0001 goes back"),
        ("restored", "vol-0001 is back"),
        ("over", "The plan run-1 is over"),
    ]
    (back,) = [each for event in events for each in event["news"] if each["kind"] == "taken-back"]
    assert (back["account"], back["region"], back["volume_id"]) == ("111122223333", "us-east-1", "vol-0001")
    assert (back["text"], back["code"], back["by"]) == ("it is worse.", "test", None)
    assert (back["slower_pct"], back["stopped_minutes"], back["hours_watched"]) == (31.2, 40.0, 26)
    assert [event["volumes"] for event in events] == [
        {"planned": 5, "changed": 0, "going_back": 1, "restored": 0, "not_restored": 0},
        *[{"planned": 5, "changed": 0, "going_back": 0, "restored": 1, "not_restored": 0}] * 2,
    ]


def test_waves_that_go_on_are_told_and_the_end_with_what_it_saves(tmp_path, some_lines):
    world = Changing(tmp_path, *some_lines)
    world.say("ada", say="approve")
    world.run(days=24)
    waves = len(world.plan.waves)
    assert waves > 1
    assert world.news() == [
        *(("judged", f"Wave {number} of io1 to gp3, hand: go on") for number in range(1, waves + 1)),
        ("over", "The plan run-1 is over"),
    ]
    assert (world.events[-1]["saved_usd_month"], world.events[-1]["volumes"]["changed"]) == (1750.0, 5)


def test_who_stopped_a_plan_is_told_and_that_it_is_over_once_all_is_watched(tmp_path, some_lines):
    world = Changing(tmp_path, *some_lines)
    world.say("ada", say="approve")
    world.run(minutes=20)
    world.say("slack-U0BOB", say="stop")
    world.run(days=9)
    assert world.news("stopped", "over") == [
        ("stopped", "The plan run-1 is stopped by slack-U0BOB"),
        ("over", "The plan run-1 is over"),
    ]
    (over,) = [each for event in world.events for each in event["news"] if each["kind"] == "over"]
    assert over["text"] == "1 of 5 volumes stay changed; 0 are back."


def test_a_plan_that_nobody_approved_ends_without_news(tmp_path):
    world = Changing(tmp_path)
    world.run(days=15)
    assert world.events == []


def test_a_change_that_a_person_takes_back_and_a_way_back_that_failed_are_told(tmp_path):
    world = Changing(tmp_path)
    world.say("ada", say="approve")
    world.run(hours=12)
    world.changer.fails = 2
    world.say("grace", say="back", reason="the team asks")
    world.run(days=2)
    assert world.news("taken-back", "not-restored", "over") == [
        ("taken-back", "vol-0001 goes back by grace"),
        ("not-restored", "vol-0001 failed to go back"),
        ("over", "The plan run-1 is over"),
        ("not-restored", "vol-0001 failed to go back"),
    ]
    assert world.events[-1]["volumes"]["not_restored"] == 1
    (over,) = [each["text"] for event in world.events for each in event["news"] if each["kind"] == "over"]
    assert over == "1 of 1 volumes stay changed; 0 are back."
    told = {each["todo"] for event in world.events for each in event["news"] if each["kind"] == "not-restored"}
    assert told == {"It is tried once more.", "It stays changed: take it back by hand."}


@pytest.mark.parametrize("is_sent", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_pass_that_ends_while_it_tells_leaves_the_same_event_to_the_next(at, is_sent, tmp_path, some_lines):
    worlds = [Changing(tmp_path / name, *some_lines, rules={"expires_days": 2}) for name in ("whole", "ended")]
    worlds[1].service = replace(worlds[1].service, events=EndingEvents(at, is_sent))
    for world in worlds:
        world.judge.told = {"vol-0001": WORSE}
        world.say("ada", say="approve")
    worlds[0].run(days=9)
    with pytest.raises(Ended):
        worlds[1].run(days=9)
    worlds[1].run(days=9)
    whole, ended = (world.events for world in worlds)
    assert len(whole) == 3
    assert len(ended) == len(whole) + is_sent
    by_id = {event["id"]: event["news"] for event in ended}
    assert all(by_id[event["id"]] == event["news"] for event in ended), "the same id has the same news"
    told = [each["title"] for news in by_id.values() for each in news]
    assert told == [title for _, title in worlds[0].news()]


@pytest.fixture
def audited(tmp_path):
    """A service whose last audit recommends something, over volumes that can be marked."""
    given = [
        a_volume("gp2", 500, id=f"vol-{number:017x}", on=a_host(id=f"i-{number}"), region="us-east-1", account=ACCOUNT)
        for number in range(3)
    ]
    loop = Loop(service=service_of(places_of(given), tmp_path, change_rules=RULES), now=NOW)
    loop.run(run_id="first")
    changer = Tagged(clock=MovedClock(NOW), volumes={volume.id: volume for volume in given})
    return replace(loop.service, places=ChangedPlaces(changer), facts=FolderStore(tmp_path / "facts"))


def plan(service, name="p", **given):
    with patch.object(entry_point, "service", lambda _places=None: service):
        return ask(plan_changes, {"name": name, "input": {"run_id": "first", **given}})


def test_a_run_becomes_a_plan_whose_volumes_are_marked_before_anybody_can_approve_it(audited):
    planned = plan(audited)
    assert planned["lines"] == 3
    written = json.loads(audited.facts.get(f"{planned['plan']}/{PLAN_FILE}"))
    assert written["digest"] == planned["digest"]
    assert written["rules"]["approvers"] == ["ada", "grace"]
    assert audited.places.changer.tags == {line["volume_id"]: planned["plan"] for line in written["lines"]}
    assert audited.places.changer.asked == []
    assert open_document(planned["plan"]).get(audited.store) is not None


def test_a_plan_is_made_with_the_demand_of_the_run_s_shards(audited):
    seen = []

    def plan_volumes(folder, *tools, **given):
        seen.extend(profile is not None for _record, profile in matched_records(folder, None))
        return planning.plan_volumes(folder, *tools, **given)

    with patch.object(change_planning, "plan_volumes", plan_volumes):
        plan(audited)
    assert seen == [True] * 3


def test_an_execution_that_is_repeated_plans_once(audited):
    assert plan(audited) == plan(audited)
    assert len(list(audited.facts.keys(""))) == 1


def test_only_the_changes_that_are_named_are_planned(audited):
    (name, *_others) = audited.places.changer.volumes
    planned = plan(audited, volume_ids=[name])
    assert planned["lines"] == 1
    assert list(audited.places.changer.tags) == [name]
    with pytest.raises(BadInput, match="nothing of first can be planned"):
        plan(audited, name="q", regions=["eu-west-1"])


def test_a_plan_whose_volumes_cannot_be_marked_is_not_made(audited):
    audited.places.changer.denied = AccessDenied("ec2:CreateTags is denied.")
    with pytest.raises(AccessDenied):
        plan(audited)
    assert list(audited.facts.keys("")) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"run_id": "never"}, "there is no file reports/never"),
        ({"steps": ["sometimes"]}, "input.steps"),
        ({"volume_ids": ["disk"]}, "input.volume_ids"),
        ({"more": 1}, "input.more"),
    ],
)
def test_bad_input_is_a_sentence(given, said, audited):
    with pytest.raises(BadInput, match=said):
        plan(audited, **given)


def test_a_pass_of_a_plan_that_was_never_made_is_a_sentence(tmp_path):
    world = Changing(tmp_path)
    given = patch.object(entry_point, "service", lambda _places=None: world.service)
    with given, pytest.raises(BadInput, match="no plan"):
        apply_changes.handler({"plan": "never", "name": "e"}, Context())
