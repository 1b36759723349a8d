"""Whole plans: waves open on verdicts, what fails together changes apart, and no kill changes anything twice."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.model.errors import BadInput
from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind
from plimsoll_change.line import LineStep
from plimsoll_change.people import note_back
from plimsoll_change.rules import ChangeRules, ChangeWindow, Freeze
from plimsoll_change.status import describe_status, fact_lines, state_of, status_lines
from plimsoll_change.watch import GroupVerdict
from tests.profiles import examples
from tests.unit.change.memory import GP3, IO1, NOW, a_line, a_verdict, a_world

HOUR = timedelta(hours=1)


def some_lines(count, **fields):
    return [a_line(number, **fields) for number in range(1, count + 1)]


def opened(world):
    return [(fact.wave, fact.at) for fact in world.facts("class-01") if fact.kind is FactKind.OPENED]


def codes(world, row="class-01"):
    return [(str(fact.kind), fact.code) for fact in world.facts(row)]


def test_each_wave_waits_for_the_verdict_and_the_bake_of_the_one_before():
    world = a_world(*some_lines(12)).approve()
    progress = world.process().run()
    assert [wave for wave, _ in opened(world)] == [1, 2, 3]
    assert {state_of(job) for job in progress.jobs.values()} == {"no slower"}
    arrived = timedelta(hours=3, minutes=5)
    for (_, before), (_, after), bake_h in zip(opened(world), opened(world)[1:], (24, 72), strict=False):
        assert arrived + bake_h * HOUR <= after - before <= arrived + (bake_h + 2) * HOUR
    assert [at for _, _, at in world.changer.asked] == sorted(at for _, _, at in world.changer.asked)


def test_without_any_verdict_a_class_stops_after_two_bakes():
    world = a_world(*some_lines(5)).approve()
    world.judge.told = dict.fromkeys((line.volume_id for line in world.plan.lines), None)
    world.process().run()
    assert codes(world) == [("opened", "canary"), ("judged", "cannot-tell"), ("stopped", "cannot-tell")]
    assert len(world.changer.asked) == 1


def test_a_person_lets_a_stopped_class_go_on():
    world = a_world(*some_lines(5)).approve()
    world.judge.groups = {3: GroupVerdict(verdict=a_verdict("cannot-tell"))}
    world.process().run()
    assert len(world.changer.asked) == 4
    world.process().context.ledger.add("class-01", Fact(kind=FactKind.RESUMED, at=world.clock.now(), by="ada"))
    world.process().run()
    assert len(world.changer.asked) == 5


def test_a_class_that_stops_begins_nothing_more_of_its_open_wave():
    world = a_world(*some_lines(4), rules=ChangeRules(most_volumes_an_hour=1)).approve()
    second = next(wave for wave in world.plan.waves if wave.number == 2)
    for name in second.members:
        world.judge.told[world.process().progress.jobs[name].line.volume_id] = a_verdict("worse", is_direct=True)
    world.changer.optimizing = timedelta(minutes=10)
    world.process().run()
    assert [spec for _, spec, _ in world.changer.asked].count(GP3) == 2
    assert codes(world)[-1] == ("stopped", "worse")


def test_a_group_that_is_slower_stops_its_class_and_offers_the_way_back():
    world = a_world(*some_lines(6)).approve()
    world.judge.groups = {3: GroupVerdict(verdict=a_verdict("worse"))}
    world.process().run()
    assert codes(world)[-2:] == [("judged", "worse"), ("stopped", "worse")]
    assert [spec for _, spec, _ in world.changer.asked] == [GP3] * 4


def test_members_that_a_holding_group_names_go_back_singly():
    world = a_world(*some_lines(6)).approve()
    wave = next(wave for wave in world.plan.waves if wave.number == 2)
    volume_id = world.process().progress.jobs[wave.members[0]].line.volume_id
    world.judge.groups = {3: GroupVerdict(verdict=a_verdict("hold"), named=(volume_id,))}
    progress = world.process().run()
    back = [name for name, spec, _ in world.changer.asked if spec == IO1]
    assert back == [volume_id]
    assert state_of(progress.jobs[wave.members[0]]) == "restored"


def test_a_canary_that_a_person_takes_back_opens_no_wave():
    world = a_world(*some_lines(5)).approve()
    world.process().run(once=True)
    world.clock.pause(6 * 3600)
    (canary,) = next(wave.members for wave in world.plan.waves if wave.number == 1)
    assert note_back(world.process().context.ledger, [canary], by="ada", at=world.clock.now()) == [canary]
    world.process().run()
    assert [spec for _, spec, _ in world.changer.asked] == [GP3, IO1]
    assert codes(world) == [("opened", "canary"), ("stopped", "nothing-changed")]


def test_two_volumes_with_direct_evidence_stop_the_plan():
    lines = [*some_lines(3), *(a_line(number, change_class="gp2 to gp3, hand") for number in (7, 8))]
    world = a_world(*lines).approve()
    for name in ("vol-0001", "vol-0007"):
        world.judge.told[name] = a_verdict("worse", is_direct=True)
    world.process().run()
    assert codes(world, PLAN_ROW) == [("approved", ""), ("stopped", "direct-evidence")]
    assert sorted(spec == IO1 for _, spec, _ in world.changer.asked) == [False, False, True, True]


def test_two_alarms_by_comparison_pause_all_waves_until_a_person_says_go_on():
    classes = ["io1 to gp3, hand", "gp2 to gp3, hand", "st1 to gp3, hand"]
    lines = [a_line(10 * place + number, change_class=name) for place, name in enumerate(classes) for number in (1, 2)]
    world = a_world(*lines).approve()
    for name in ("vol-0001", "vol-0011"):
        world.judge.told[name] = a_verdict("worse")
    world.process().run()
    assert codes(world, PLAN_ROW)[-1] == ("paused", "alarms")
    assert "--go-on" in world.process().progress.find_halt(world.clock.now())
    world.process().context.ledger.add(PLAN_ROW, Fact(kind=FactKind.RESUMED, at=world.clock.now(), by="ada"))
    world.process().run()
    assert ("vol-0022", GP3) in [(name, spec) for name, spec, _ in world.changer.asked]


def test_the_kill_switch_ends_what_has_not_begun_and_nothing_else():
    world = a_world(*some_lines(5)).approve()
    world.process().run(once=True)
    stop = Fact(kind=FactKind.STOPPED, at=world.clock.now(), by="ada", text="incident")
    world.process().context.ledger.add(PLAN_ROW, stop)
    progress = world.process().run()
    assert len(world.changer.asked) == 1
    assert sorted(state_of(job) for job in progress.jobs.values()) == ["no slower"] + ["planned"] * 4


def test_the_kill_switch_is_looked_at_right_before_the_call():
    world = a_world().approve()

    def stopping(changer):
        class Stopping:
            def __getattr__(self, name):
                return getattr(changer, name)

            def look(self, *asked):
                ledger = world.process().context.ledger
                if ledger.facts("line-0001") and len(ledger.facts(PLAN_ROW)) == 1:
                    ledger.add(PLAN_ROW, Fact(kind=FactKind.STOPPED, at=world.clock.now(), by="ada"))
                return changer.look(*asked)

        return Stopping()

    world.process(stopping).run()
    assert (world.kinds(), world.changer.asked) == (["intended", "unsent"], [])


def test_volumes_of_one_host_never_change_at_the_same_time():
    shared = ("host i-1",)
    lines = [a_line(1, fails_with=shared, hosts=("i-1",)), a_line(2, fails_with=shared, hosts=("i-1",))]
    other = replace(lines[1], change_class="gp2 to gp3, hand")
    world = a_world(lines[0], other).approve()
    world.process().run()
    (_, _, first), (_, _, second) = world.changer.asked
    assert second - first >= timedelta(hours=3)


def test_a_stripe_set_changes_at_once_and_goes_back_as_one():
    fields = {"unit": "stripes md0 on i-1", "fails_with": ("host i-1",), "hosts": ("i-1",)}
    world = a_world(*some_lines(4, **fields)).approve()
    world.judge.told["vol-0002"] = a_verdict("worse", is_direct=True)
    world.process().run()
    assert [spec for _, spec, _ in world.changer.asked] == [GP3] * 4 + [IO1] * 4
    assert len({at for _, _, at in world.changer.asked[:4]}) == 1


def drift(world):
    world.changer.volumes["vol-0003"] = replace(world.changer.volumes["vol-0003"], attachments=())


def throttle(world):
    world.judge.stopped = {"vol-0003": 100.0}


def delete(world):
    del world.changer.volumes["vol-0003"]


@pytest.mark.parametrize(("happens", "code"), [(drift, "host"), (throttle, "new-throttling"), (delete, "gone")])
def test_a_stripe_set_of_which_one_cannot_change_stays_as_it_is(happens, code):
    fields = {"unit": "stripes md0 on i-1", "fails_with": ("host i-1",), "hosts": ("i-1",)}
    world = a_world(*some_lines(4, **fields)).approve()
    happens(world)
    progress = world.process().run()
    assert world.changer.asked == []
    assert {state_of(job) for job in progress.jobs.values()} == {f"dropped ({code})"}
    assert codes(world)[-1] == ("stopped", "nothing-changed")


def test_windows_and_freezes_hold_changes_but_no_way_back():
    window = ChangeWindow(days=("tue",), from_hour=22, to_hour=2)
    rules = ChangeRules(windows=(window,), freezes=(Freeze(first=date(2026, 11, 3), last=date(2026, 11, 9)),))
    world = a_world(rules=rules).approve()
    world.judge.told["vol-0001"] = a_verdict("worse", is_direct=True)
    world.process().run()
    (_, _, forth), (_, _, back) = world.changer.asked
    assert (forth.date(), forth.hour) == (date(2026, 11, 10), 22)
    assert back - forth < 5 * HOUR


def test_no_more_volumes_an_hour_and_dollars_at_risk_than_the_rules_allow():
    rules = ChangeRules(most_volumes_an_hour=2, most_usd_at_risk=250)
    world = a_world(*some_lines(7, usd_at_risk=100.0), rules=rules).approve()
    world.process().run()
    times = [at for _, _, at in world.changer.asked]
    assert all(later - earlier >= HOUR for earlier, later in zip(times, times[2:], strict=False))
    week = timedelta(days=7)
    assert all(later - earlier >= week for earlier, later in zip(times, times[2:], strict=False))


def test_a_canary_waits_for_its_quiet_hours():
    world = a_world(a_line(quiet_hours=(2, 3))).approve()
    world.process().run()
    assert world.changer.asked[0][2].hour in (2, 3)


def test_a_plan_that_is_over_does_nothing_when_it_is_applied_again():
    world = a_world(*some_lines(2)).approve()
    world.process().run()
    asked, later = list(world.changer.asked), world.clock.now()
    world.process().run()
    assert (world.changer.asked, world.clock.now()) == (asked, later)


@pytest.mark.parametrize("days", [0, 20])
def test_a_plan_that_nobody_approved_or_that_expired_begins_nothing(days):
    world = a_world()
    if days:
        world.approve().clock.pause(days * 86_400)
    world.process().run()
    assert (world.changer.asked, world.kinds()) == ([], [])


def test_two_processes_never_carry_one_plan_out():
    world = a_world(*some_lines(2)).approve()
    world.process(name="one").run(once=True)
    with pytest.raises(BadInput, match="another process"):
        world.process(name="two").run(once=True)


def test_a_person_takes_changes_back_and_only_what_was_changed():
    world = a_world(*some_lines(3)).approve()
    world.process().run(once=True)
    world.clock.pause(6 * 3600)
    rollout = world.process()
    ledger, lines = rollout.context.ledger, ["line-0001", "line-0002"]
    assert note_back(ledger, lines, by="ada", at=world.clock.now()) == ["line-0001"]
    assert rollout.run_back(["line-0001"])
    assert [spec for _, spec, _ in world.changer.asked] == [GP3, IO1]


def test_the_status_is_made_of_the_ledger_alone():
    world = a_world(*some_lines(3)).approve()
    world.judge.told["vol-0001"] = a_verdict("worse", is_direct=True)
    world.process().run()
    status = describe_status(world.process().progress, world.clock.now())
    assert status["usd"]["promised_usd_month"] == 1050
    assert status["usd"]["reversed_usd_month"] == 350
    assert status["usd"]["changed_usd_month"] == 0
    assert 3 <= status["lines"][0]["hours_until_back"] < 4, "the cloud moves data for three hours"
    text = "\n".join(status_lines(status))
    assert "restored" in text
    assert "taken back" in text
    assert any("taken-back" in line for line in fact_lines(world.process().context.ledger.rows))


class Killed(BaseException):
    """The end of a process in the middle of whatever it does."""


class Mortal:
    """A world's cloud and ledger, in which a process ends before or after a call of it."""

    def __init__(self, inner, count):
        self.inner, self.count = inner, count

    def __getattr__(self, name):
        found = getattr(self.inner, name)
        return self._counted(found) if callable(found) else found

    def _counted(self, call):
        def counted(*words):
            self._live()
            result = call(*words)
            self._live()
            return result

        return counted

    def _live(self):
        self.count[0] -= 1
        if self.count[0] == 0:
            raise Killed


@given(lives=st.lists(st.integers(1, 120), min_size=1, max_size=8), is_worse=st.booleans())
@settings(max_examples=examples(200))
def test_whatever_is_killed_no_volume_is_changed_twice_and_none_is_lost(lives, is_worse):
    world = a_world(*some_lines(3)).approve()
    if is_worse:
        world.judge.told["vol-0001"] = a_verdict("worse", is_direct=True)
    for life in lives:
        count = [life]
        rollout = world.process(lambda changer, count=count: Mortal(changer, count))
        rollout.context.ledger.store = Mortal(world.store, count)
        try:
            rollout.run()
        except Killed:
            world.clock.pause(30)
    progress = world.process().run()
    asked = [(name, spec) for name, spec, _ in world.changer.asked]
    assert len(asked) == len(set(asked))
    assert all(job.next is LineStep.DONE or not job.facts for job in progress.jobs.values())
    requested = [fact for line in world.plan.lines for fact in world.facts(line.id) if fact.kind is FactKind.REQUESTED]
    assert sorted(fact.started for fact in requested) == sorted(at for _, _, at in world.changer.asked)
    starts = [[at for name, _, at in world.changer.asked if name == line.volume_id] for line in world.plan.lines]
    assert all(later > earlier for times in starts for earlier, later in pairwise(times))
    assert ([spec for name, spec in asked if name == "vol-0001"] == [GP3, IO1]) == is_worse
    assert world.clock.now() >= NOW
