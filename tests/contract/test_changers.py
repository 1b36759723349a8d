"""The contract of what changes volumes, held by every cloud's changer over its simulated API."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest

from cloud_simulator.clock import SimulatedClock
from cloud_simulator.faults import Effect, Fault
from plimsoll.model.errors import CloudError, Unanswered, VolumeGone
from plimsoll.model.volume import Modification, Volume, VolumeSpec
from plimsoll.ports import Target
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.ports import ModifyRefused, VolumeChanger
from tests.unit.change import test_changer as on_aws
from tests.unit.change import test_google_changer as on_google
from tests.unit.cloud_simulator.google import hyperdisks
from tests.unit.cloud_simulator.test_modifications import id_of

CALLS = ("ModifyVolume", "disks.update")
"""The modification's names to faults."""

REQUESTS = [str(UUID(int=number)) for number in range(1, 9)]


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One volume of a simulated cloud, what changes it, and what the cloud knows of it."""

    changer: VolumeChanger
    target: Target
    volume_id: str
    unknown_id: str
    now: VolumeSpec
    then: VolumeSpec
    clock: SimulatedClock
    count: Callable[[], int]

    def look(self) -> Volume:
        sight = self.changer.look(self.target, [self.volume_id])[self.volume_id]
        assert isinstance(sight, Volume)
        return sight

    def modification(self) -> Modification:
        change = self.look().modification
        assert change is not None
        return change

    def follow(self) -> Volume:
        """The volume once nothing of it runs any more."""
        while self.modification().is_running:
            self.clock.pause(600)
        return self.look()


@contextmanager
def aws(monkeypatch, faults) -> Iterator[Changed]:
    with on_aws.changing(monkeypatch, faults=faults) as (there, changer):
        yield Changed(
            changer=changer,
            target=on_aws.HERE,
            volume_id=id_of(there),
            unknown_id="vol-0123456789abcdef0",
            now=on_aws.NOW_SPEC,
            then=on_aws.THEN,
            clock=there.front.living.clock,
            count=lambda: len(there.front.living.modifications()),
        )


@contextmanager
def google(_monkeypatch, faults) -> Iterator[Changed]:
    with on_google.changing(faults=faults, attempts=1) as (cloud, changer):
        yield Changed(
            changer=changer,
            target=hyperdisks.HERE,
            volume_id=hyperdisks.id_of(cloud),
            unknown_id="42",
            now=on_google.IS,
            then=on_google.THEN,
            clock=cloud.time,
            count=lambda: len(cloud.updates.made),
        )


CHANGERS = {"aws": aws, "google": google}


@pytest.fixture(params=CHANGERS)
def opened(request, monkeypatch):
    return lambda *faults: CHANGERS[request.param](monkeypatch, faults)


@pytest.fixture
def changed(opened):
    with opened() as there:
        yield there


def test_every_cloud_that_changes_volumes_is_held_to_it():
    assert CHANGERS.keys() == CHANGE_CLOUDS.keys()


def test_a_modification_is_running_then_completed_with_its_target(changed):
    assert (changed.look().spec, changed.look().modification) == (changed.now, None)
    started = changed.changer.modify(changed.target, changed.volume_id, changed.now, changed.then, REQUESTS[0])
    assert changed.modification().is_running
    after = changed.follow()
    assert (after.spec, after.modification.target) == (changed.then, changed.then)
    assert (after.modification.state, after.modification.started) == ("completed", started)
    assert changed.count() == 1


def test_starts_are_those_since_a_time(changed):
    started = changed.changer.modify(changed.target, changed.volume_id, changed.now, changed.then, REQUESTS[0])
    starts = changed.changer.find_starts
    assert list(starts(changed.target, changed.volume_id, started - timedelta(hours=1))) == [started]
    assert list(starts(changed.target, changed.volume_id, started + timedelta(hours=1))) == []


def test_a_lost_answer_leaves_open_what_was_done_and_a_look_tells(opened):
    with opened(*(Fault(operation=name, effect=Effect.LOST, times=1) for name in CALLS)) as changed:
        with pytest.raises(Unanswered):
            changed.changer.modify(changed.target, changed.volume_id, changed.now, changed.then, REQUESTS[0])
        assert changed.follow().modification.target == changed.then
        assert changed.count() == 1


def test_no_more_modifications_are_taken_than_the_slots_of_its_cloud_and_the_refusal_names_a_time(changed):
    slots, specs = CHANGE_CLOUDS[changed.target.provider].slots, [changed.now, changed.then]
    now, then, refused = changed.now, changed.then, None
    for request in REQUESTS:
        try:
            changed.changer.modify(changed.target, changed.volume_id, now, then, request)
        except ModifyRefused as error:
            refused = error
            break
        now = changed.follow().spec
        then = next(spec for spec in specs if spec != now)
    assert changed.count() == slots.most
    assert refused is not None
    assert timedelta() < refused.until - changed.clock.now() <= timedelta(hours=slots.hours)


def test_a_modification_that_fails_changes_nothing(opened):
    with opened(*(Fault(operation=name, effect=Effect.FAILS, times=1) for name in CALLS)) as changed:
        changed.changer.modify(changed.target, changed.volume_id, changed.now, changed.then, REQUESTS[0])
        after = changed.follow()
        assert (after.spec, after.modification.state) == (changed.now, "failed")


def test_what_is_not_there_is_gone_and_costs_no_other(changed):
    sights = changed.changer.look(changed.target, [changed.unknown_id, changed.volume_id])
    assert isinstance(sights[changed.unknown_id], VolumeGone)
    assert isinstance(sights[changed.volume_id], Volume)
    with pytest.raises(VolumeGone):
        changed.changer.modify(changed.target, changed.unknown_id, changed.now, changed.then, REQUESTS[0])


def test_nothing_is_asked_of_an_account_that_cannot_be_entered(changed):
    account = "999999999999" if changed.target.provider == "aws" else "plimsoll-elsewhere"
    elsewhere = Target(account=account, region=changed.target.region, provider=changed.target.provider)
    with pytest.raises(CloudError, match=account):
        changed.changer.look(elsewhere, [changed.volume_id])
