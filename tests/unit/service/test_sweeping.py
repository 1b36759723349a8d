"""A sweep goes where a scratch volume may be, now and then everywhere, and misses no place in silence."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from plimsoll.model.errors import AccessDenied, CloudError
from plimsoll.model.task import ScratchOrder
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import FailedTarget, Target
from plimsoll_service.config import ServiceConfig
from plimsoll_service.scratch_ledger import note_scratch, noted_targets
from plimsoll_service.sweeping import conclude_sweep, plan_sweep
from plimsoll_service.validation_messages import SweepEndMessage, SweepInput, SweepMessage
from tests.builders import NOW
from tests.in_memory.bench import MemoryBench
from tests.in_memory.ports import MemoryClock
from tests.service_loop import a_service, sweep

DEADLINE = NOW + timedelta(hours=4)
LATER = DEADLINE + timedelta(minutes=1)
TARGETS = [
    Target(account=f"{number:012}", region=region) for number in range(3) for region in ("eu-west-1", "us-east-1")
]
ONE, OTHER, *_ = TARGETS


@dataclass
class Benches:
    """A bench at each target, which notes when it is asked; `closed` accounts and targets cannot be entered."""

    clock: MemoryClock = field(default_factory=lambda: MemoryClock(time=NOW))
    asked: list[Target] = field(default_factory=list)
    closed: dict[object, CloudError] = field(default_factory=dict)
    made: dict[Target, MemoryBench] = field(default_factory=dict)

    def accounts(self):
        return sorted({target.account for target in TARGETS})

    def targets(self, account):
        if account in self.closed:
            return [FailedTarget(name=f"the role of {account}", error=self.closed[account])]
        return [target for target in TARGETS if target.account == account]

    def bench(self, target):
        self.asked.append(target)
        for place in (target, target.account):
            if place in self.closed:
                raise self.closed[place]
        return self.at(target)

    def at(self, target):
        empty = MemoryBench(given=[], measure=lambda _spec, _task: "", clock=self.clock, looks=0)
        return self.made.setdefault(target, empty)

    def leave(self, target, deadline=DEADLINE):
        """A scratch volume that something left at a target."""
        spec = VolumeSpec(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125)
        place = {"account": target.account, "region": target.region, "zone": f"{target.region}a"}
        self.at(target).create(ScratchOrder(validation_id="v-0", spec=spec, deadline=deadline, **place))


@pytest.fixture
def benches():
    return Benches()


@pytest.fixture
def service(benches, tmp_path):
    return replace(a_service(ServiceConfig(), benches, tmp_path, NOW), clock=benches.clock)


def test_where_no_scratch_volume_can_be_nobody_looks(service, benches):
    assert plan_sweep(service, SweepMessage(name="s")).accounts == 0
    assert benches.asked == []


def test_the_sweep_goes_where_the_ledger_points_and_nowhere_else(service, benches):
    note_scratch(service.store, ONE, DEADLINE)
    benches.leave(ONE)
    assert plan_sweep(service, SweepMessage(name="s")).accounts == 1
    assert sweep(service).alive == 1
    benches.clock.time = LATER
    assert sweep(service).deleted == 1
    assert set(benches.asked) == {ONE}


def test_a_target_is_forgotten_when_the_last_deadline_is_past_and_nothing_was_found(service, benches):
    note_scratch(service.store, ONE, DEADLINE)
    sweep(service)
    assert list(noted_targets(service.store)) == [ONE], "one may still be made there"
    benches.clock.time = LATER
    benches.leave(ONE)
    sweep(service)
    assert list(noted_targets(service.store)) == [ONE], "what was deleted now is looked for once more"
    sweep(service)
    assert list(noted_targets(service.store)) == []


def test_an_earlier_deadline_does_not_shorten_a_later_one(service):
    note_scratch(service.store, ONE, LATER)
    note_scratch(service.store, ONE, NOW)
    sweep(service)
    assert list(noted_targets(service.store)) == [ONE]


def test_a_full_round_looks_everywhere_and_what_it_finds_is_followed_from_then_on(service, benches):
    benches.leave(OTHER)
    assert sweep(service, everywhere=True).alive == 1
    assert benches.asked == TARGETS
    assert list(noted_targets(service.store)) == [OTHER]
    benches.clock.time, benches.asked = LATER, []
    assert sweep(service).deleted == 1
    assert benches.asked == [OTHER]


def test_where_a_volume_may_be_and_nobody_can_look_is_counted_and_stays_in_the_ledger(service, benches):
    benches.closed[ONE] = AccessDenied("no entry")
    note_scratch(service.store, ONE, DEADLINE)
    benches.clock.time = LATER
    swept = sweep(service)
    assert (swept.failed, swept.unswept, swept.left_behind) == (1, 1, [f"{ONE}: no entry"])
    assert list(noted_targets(service.store)) == [ONE]


def test_an_account_that_never_had_a_scratch_volume_is_no_alarm_where_it_cannot_be_entered(service, benches):
    benches.closed = {ONE.account: AccessDenied("no role"), TARGETS[2].account: AccessDenied("no role")}
    note_scratch(service.store, ONE, DEADLINE)
    swept = sweep(service, everywhere=True)
    assert (swept.failed, swept.unswept) == (2, 1)


def test_an_account_whose_sweep_did_not_end_is_not_missing_in_silence(service):
    note_scratch(service.store, ONE, DEADLINE)
    note_scratch(service.store, OTHER, DEADLINE)
    plan_sweep(service, SweepMessage(name="s"))
    swept = conclude_sweep(service, SweepEndMessage(sweep="s"))
    assert (swept.failed, swept.unswept) == (1, 2)
    assert "did not end" in swept.left_behind[0]


def test_a_full_round_that_finds_no_account_at_all_fails(service, benches, monkeypatch):
    lost = FailedTarget(name="the Organization", error=AccessDenied("organizations:ListAccounts is not allowed"))
    monkeypatch.setattr(benches, "accounts", lambda: [lost])
    with pytest.raises(AccessDenied, match="ListAccounts"):
        plan_sweep(service, SweepMessage(name="s", given=SweepInput(everywhere=True)))
