"""Lines: changed once, watched, taken back where they did harm, and dropped by name where the world moved."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.model.errors import CloudError, Throttled, Unanswered, VolumeGone
from plimsoll.model.volume import Modification, Owner, OwnerKind, VolumeState
from plimsoll_change.drift import compare_advice
from plimsoll_change.ledger import Leg
from plimsoll_change.line import SETTLE
from plimsoll_change.ports import ModifyRefused
from plimsoll_change.rules import ChangeRules, SlotRule
from plimsoll_change.status import state_of
from tests.builders import a_host, a_spec
from tests.unit.change.memory import GP3, IO1, NOW, a_line, a_verdict, a_world

CHANGED = ["intended", "requested", "modifying", "optimizing", "completed"]
WHOLE = [*CHANGED, "verdict", "watched"]
HOUR = timedelta(hours=1)


def test_a_change_is_asked_for_once_watched_for_a_week_and_done():
    world = a_world().approve()
    progress = world.process().run()
    assert world.kinds() == WHOLE
    assert world.changer.asked == [("vol-0001", GP3, NOW)]
    assert state_of(progress.jobs["line-0001"]) == "no slower"
    assert world.clock.now() - NOW >= timedelta(days=7)


@pytest.mark.parametrize(
    ("is_direct", "before", "after"),
    [
        (True, [*CHANGED[:4], "verdict", "taken-back", "waits"], timedelta(minutes=10)),
        (False, [*CHANGED, "verdict", "taken-back"], timedelta(hours=4)),
    ],
)
def test_a_change_that_did_harm_goes_back_within_the_hour(is_direct, before, after):
    """Stopped minutes count while the cloud still moves data, comparison once it does not."""
    world = a_world().approve()
    world.judge.told["vol-0001"] = a_verdict("worse", is_direct=is_direct)
    progress = world.process().run()
    (_, _, forth), (_, spec, back) = world.changer.asked
    completed = forth + world.changer.modifying + world.changer.optimizing
    assert (spec, timedelta() <= back - completed < HOUR) == (IO1, True)
    assert world.kinds() == [*before, *CHANGED, "verdict", "watched"]
    verdict = next(fact for fact in world.facts() if fact.kind == "verdict")
    assert verdict.at <= NOW + after
    assert state_of(progress.jobs["line-0001"]) == "restored"
    assert [fact.code for fact in world.facts("class-01")] == ["canary", "worse"]


def test_a_verdict_on_the_change_is_none_on_its_way_back():
    world = a_world().approve()
    world.judge.told["vol-0001"] = a_verdict("worse", is_direct=True)
    rollout = world.process()
    while rollout.progress.jobs["line-0001"].leg is Leg.FORTH:
        rollout.run(once=True)
        world.clock.pause(600)
    world.judge.told["vol-0001"] = None
    progress = rollout.run()
    assert [fact.leg for fact in world.facts() if fact.kind == "verdict"] == ["forth"]
    assert progress.jobs["line-0001"].verdict is None


def test_a_lost_answer_spends_no_second_modification():
    world = a_world().approve()
    world.changer.lose = 1
    world.process().run()
    assert len(world.changer.asked) == 1
    assert world.kinds() == ["intended", "requested", "optimizing", "completed", "verdict", "watched"]
    assert world.facts()[1].code == "seen"


def test_a_call_that_never_arrived_is_made_again_once_its_time_is_over():
    world = a_world().approve()
    world.changer.refusals = [Unanswered("no connection")]
    world.process().run()
    assert world.kinds() == ["intended", "unsent", *WHOLE]
    assert world.changer.asked[0][2] >= NOW + SETTLE


def test_another_process_reads_before_it_asks_again():
    world = a_world().approve()

    class Killed(BaseException):
        pass

    def kill(changer):
        class Killing:
            def __getattr__(self, name):
                return getattr(changer, name)

            def modify(self, *asked):
                changer.modify(*asked)
                raise Killed

        return Killing()

    with pytest.raises(Killed):
        world.process(kill).run()
    assert world.kinds() == ["intended"]
    world.process().run()
    assert (len(world.changer.asked), world.kinds()) == (1, WHOLE)


@pytest.mark.parametrize(
    ("code", "wait"),
    [
        ("VolumeModificationRateExceeded", timedelta(hours=6)),
        ("IncorrectModificationState", HOUR),
        ("IncorrectState", HOUR),
        ("VolumeModificationSizeLimitExceeded", HOUR),
        ("MaxIOPSLimitExceeded", HOUR),
        ("VolumeLimitExceeded", HOUR),
        ("RequestLimitExceeded", timedelta(minutes=5)),
    ],
)
def test_a_refusal_that_passes_is_waited_for(code, wait):
    world = a_world().approve()
    world.changer.refusals = [ModifyRefused(f"{code}: later", code)]
    world.process().run()
    assert world.kinds() == ["intended", "waits", *WHOLE]
    assert (world.facts()[1].code, world.facts()[1].until) == (code, NOW + wait)
    assert world.changer.asked[0][2] >= NOW + wait


def test_the_time_that_a_refusal_names_is_kept():
    world, named = a_world().approve(), NOW + timedelta(hours=9)
    world.changer.refusals = [ModifyRefused("wait", "VolumeModificationRateExceeded", named)]
    world.process().run()
    assert world.changer.asked[0][2] >= named


@pytest.mark.parametrize(
    "code",
    [
        "UnauthorizedOperation",
        "OperationNotPermitted",
        "UnsupportedOperation",
        "InvalidParameterValue",
        "InvalidParameterCombination",
        "SomethingNew",
    ],
)
def test_a_refusal_that_stays_drops_the_volume_and_changes_nothing(code):
    world = a_world().approve()
    world.changer.refusals = [ModifyRefused(f"{code}: no", code)]
    world.process().run()
    assert world.kinds() == ["intended", "dropped"]
    assert (world.facts()[1].code, world.changer.asked) == (code, [])


def test_a_way_back_is_never_given_up_for_a_refusal():
    world = a_world().approve()
    world.judge.told["vol-0001"] = a_verdict("worse", is_direct=True)

    def refuse_twice(changer):
        class Refusing:
            def __getattr__(self, name):
                return getattr(changer, name)

            def modify(self, target, volume_id, now, then, request_id):
                if then == IO1 and len(refused) < 2:
                    refused.append(1)
                    raise ModifyRefused("UnauthorizedOperation: no", "UnauthorizedOperation")
                return changer.modify(target, volume_id, now, then, request_id)

        return Refusing()

    refused = []
    world.process(refuse_twice).run()
    assert [spec for _, spec, _ in world.changer.asked] == [GP3, IO1]


def test_a_modification_that_fails_is_asked_for_once_more():
    world = a_world().approve()
    world.changer.fails = 1
    world.process().run()
    assert world.kinds() == ["intended", "requested", "modifying", "failed", *WHOLE]


def test_a_modification_that_fails_twice_is_over():
    world = a_world().approve()
    world.changer.fails = 2
    progress = world.process().run()
    assert (world.kinds()[-1], len(world.changer.asked)) == ("failed", 2)
    assert state_of(progress.jobs["line-0001"]) == "failed"


@pytest.mark.parametrize(
    ("code", "drift"),
    [
        ("configuration", {"spec": a_spec("io1", 500, iops=6000)}),
        ("owner", {"owner": Owner(kind=OwnerKind.TERRAFORM, name="stack")}),
        ("host", {"attachments": ()}),
        ("state", {"state": VolumeState.ERROR}),
        ("being-changed", {"modification": Modification(state="optimizing", started=NOW, target=GP3)}),
    ],
)
def test_drift_drops_the_volume_by_name(code, drift):
    world = a_world().approve()
    world.changer.volumes["vol-0001"] = replace(world.changer.volumes["vol-0001"], **drift)
    world.process().run()
    assert (world.kinds(), world.facts()[0].code, world.changer.asked) == (["dropped"], code, [])


def test_a_volume_that_was_throttled_since_the_plan_is_dropped():
    world = a_world(rules=ChangeRules(stopped_minutes=20)).approve()
    world.judge.stopped = {"vol-0001": 21.0}
    world.process().run()
    assert (world.facts()[0].code, world.changer.asked) == ("new-throttling", [])


@pytest.mark.parametrize(("target", "is_dropped"), [(GP3, False), (None, True), (a_spec("gp3", 500, iops=9000), True)])
def test_a_later_run_that_recommends_otherwise_drops_the_volume(target, is_dropped):
    world = a_world().approve()
    rollout = world.process()
    rollout.context = replace(rollout.context, find_news=lambda line: compare_advice(line, "later", target))
    rollout.run()
    assert ("newer-recommendation" in [fact.code for fact in world.facts()]) == is_dropped


def test_an_alarm_drops_the_volume():
    world = a_world(rules=ChangeRules(alarms=("checkout-slow",))).approve()
    world.changer.firing = ("checkout-slow",)
    world.process().run()
    assert (world.facts()[0].code, world.changer.asked) == ("alarm", [])


def test_a_volume_that_is_gone_is_dropped_at_any_step():
    world = a_world().approve()
    world.process().run(once=True)
    del world.changer.volumes["vol-0001"]
    world.process().run()
    assert (world.kinds()[-1], world.facts()[-1].code) == ("dropped", "gone")


def test_a_cloud_that_does_not_answer_costs_nothing_but_time():
    world, failures = a_world().approve(), [Throttled("later"), CloudError("no")]

    def failing(changer):
        class Failing:
            def __getattr__(self, name):
                return getattr(changer, name)

            def look(self, *asked):
                if failures:
                    raise failures.pop()
                return changer.look(*asked)

        return Failing()

    world.process(failing).run()
    assert world.kinds() == WHOLE


def test_other_peoples_modifications_count_and_one_slot_is_kept_for_the_way_back():
    world = a_world().approve()
    world.changer.logged = {"vol-0001": [NOW - hours * HOUR for hours in (20, 10, 5)]}
    world.process().run()
    assert world.facts()[0].until == NOW + 4 * HOUR
    assert world.changer.asked[0][2] >= NOW + 4 * HOUR


def test_a_rule_of_one_in_six_hours_is_kept():
    world = a_world(rules=ChangeRules(slots=SlotRule(most=1, hours=6))).approve()
    world.judge.told["vol-0001"] = a_verdict("worse", is_direct=True)
    world.process().run()
    (_, _, forth), (_, _, back) = world.changer.asked
    assert 6 * HOUR <= back - forth < 7 * HOUR
    assert "waits" in world.kinds()


def test_somebody_elses_change_is_not_taken_back():
    world = a_world().approve()
    world.process().run(once=True)
    world.clock.pause(5 * 3600)
    world.process().run(once=True)
    world.changer.begin("vol-0001", a_spec("gp3", 500, iops=9000, throughput_mib_s=500))
    world.clock.pause(5 * 3600)
    world.judge.told["vol-0001"] = a_verdict("worse", is_direct=True)
    world.process().run()
    assert (world.facts()[-1].code, len(world.changer.asked)) == ("changed-by-others", 2)


def test_what_an_owner_manages_is_waited_for_and_never_modified():
    world = a_world(a_line(is_by_owner=True)).approve()
    world.process().run(once=True)
    assert (world.kinds(), world.changer.asked) == (["handed"], [])
    world.clock.pause(3600)
    world.changer.begin("vol-0001", GP3)
    world.process().run()
    assert world.kinds() == ["handed", "requested", "optimizing", "completed", "verdict", "watched"]
    assert len(world.changer.asked) == 1


def test_an_owner_who_does_nothing_until_the_plan_expires_drops_the_volume():
    world = a_world(a_line(is_by_owner=True)).approve()
    world.process().run()
    assert (world.facts()[-1].code, world.clock.now() >= world.plan.expires) == ("not-done", True)


def test_a_volume_attached_elsewhere_is_another_volume():
    world = a_world().approve()
    moved = [replace(where, host=a_host(id="i-9")) for where in world.changer.volumes["vol-0001"].attachments]
    world.changer.volumes["vol-0001"] = replace(world.changer.volumes["vol-0001"], attachments=tuple(moved))
    world.process().run()
    assert "i-9" in world.facts()[0].text
    assert VolumeGone.__name__ not in world.facts()[0].text
