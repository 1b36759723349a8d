"""Scenes that a storage engineer answered first: what is done, to what, and what it saves."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pytest

from plimsoll.decide.answer import Keep, Migrate, Reprovision, Upgrade, Wait
from plimsoll.demand.demand import Demand
from plimsoll.model.volume import Modification, VolumeSpec
from tests.builders import NOW, a_host, a_policy, a_volume, decision, fields_of, rates_of

DAYS = 14
MINUTES = DAYS * 1440


def gp3(iops, mib_s, size_gib=500):
    return VolumeSpec(type="gp3", size_gib=size_gib, iops=iops, throughput_mib_s=mib_s)


@dataclass
class Scene:
    """A volume with its minutes; `kinds` may be offered."""

    spec: VolumeSpec
    iops: np.ndarray
    mib_s: np.ndarray
    kinds: tuple = ()
    flags: dict | None = None
    earlier: VolumeSpec | None = None
    changed_at: int = 0
    host: str = "m5.24xlarge"

    @property
    def demand(self):
        return Demand(
            start_s=int(NOW.timestamp()) - MINUTES * 60,
            resolution_s=60,
            coarsest_s=60,
            rates=rates_of(self.iops, self.mib_s),
            observed=np.ones(MINUTES, dtype=bool),
            **fields_of(self.flags or {}),
        )

    @property
    def volume(self):
        changed = None
        if self.earlier is not None:
            started = NOW - timedelta(minutes=MINUTES - self.changed_at)
            changed = Modification(state="completed", started=started, ended=started, original=self.earlier)
        spec = self.spec
        return a_volume(
            spec.type,
            spec.size_gib,
            iops=spec.iops,
            throughput_mib_s=spec.throughput_mib_s,
            on=a_host(self.host),
            modification=changed,
        )

    @property
    def answer(self):
        return decision(self.volume, self.demand, a_policy(target_types=self.kinds))


def level(iops, io_kib):
    rate = np.broadcast_to(np.asarray(iops, dtype=np.float64), (MINUTES,)).copy()
    return rate, rate * io_kib / 1024


def raised(*at):
    found = np.zeros(MINUTES, dtype=bool)
    found[list(at)] = True
    return found


def noisy(mean, seed=1):
    return mean * (0.6 + 0.4 * np.random.default_rng(seed).random(MINUTES))


def test_a_plateau_is_relieved_by_half():
    iops, mib_s = level(np.minimum(noisy(4000), 3000), 16)
    found = Scene(spec=gp3(3000, 125), iops=iops, mib_s=mib_s).answer
    assert (type(found), found.target.spec) == (Upgrade, gp3(4500, 125))


def test_what_was_relieved_stays():
    iops, mib_s = level(noisy(4000), 16)
    assert isinstance(Scene(spec=gp3(4500, 125), iops=iops, mib_s=mib_s).answer, Keep)


def a_backup(throughput):
    iops, mib_s = np.full(MINUTES, 100.0), np.full(MINUTES, 5.0)
    for day in range(DAYS):
        night = slice(day * 1440, day * 1440 + 120)
        iops[night], mib_s[night] = throughput * 4, throughput
    return iops, mib_s


def test_a_backup_bound_by_throughput_gets_throughput_and_the_iops_of_its_size():
    iops, mib_s = a_backup(125.0)
    found = Scene(spec=gp3(16_000, 125), iops=iops, mib_s=mib_s).answer
    assert (type(found), found.target.spec) == (Upgrade, gp3(3000, 190))


def test_once_it_has_settled_its_iops_go_down():
    iops, mib_s = a_backup(150.0)
    found = Scene(spec=gp3(16_000, 190), iops=iops, mib_s=mib_s).answer
    assert (type(found), found.target.spec.iops) == (Reprovision, 3000)


def io2_with_a_flag(**more):
    iops, mib_s = level(noisy(2000), 16)
    flags = {"iops_exceeded": raised(777), "throughput_exceeded": raised()}
    return Scene(spec=VolumeSpec(type="io2", size_gib=500, iops=64_000), iops=iops, mib_s=mib_s, flags=flags, **more)


def test_io2_with_one_flagged_minute_becomes_gp3_that_carries_even_that_minute():
    found = io2_with_a_flag().answer
    assert (type(found), found.target.spec) == (Migrate, gp3(64_000, 1000))
    assert found.target.usd_month < 430


def test_with_io2_alone_it_is_kept_and_the_frontier_shows_what_the_minute_costs():
    found = io2_with_a_flag(kinds=("io2",)).answer
    assert isinstance(found, Keep)
    steps = {step.budget_min: step.usd_month for step in found.comparison.frontier}
    assert steps[0.0] > 3000
    assert min(steps.values()) < 250


def test_a_flag_holds_iops_and_throughput_follows_the_size():
    iops, mib_s = level(1280, 16)
    flags = {"iops_exceeded": raised(777), "throughput_exceeded": raised()}
    found = Scene(spec=gp3(16_000, 1000), iops=iops, mib_s=mib_s, flags=flags).answer
    assert (type(found), found.target.spec) == (Reprovision, gp3(16_000, 250))


def test_gp2_that_lives_on_credits_gets_the_same_burst_without_them():
    iops, mib_s = level(80, 16)
    burst = np.random.default_rng(2).integers(0, MINUTES, 300)
    iops[burst], mib_s[burst] = 2500, 39
    flags = {"burst_balance_pct": np.full(MINUTES, 40.0)}
    spec = VolumeSpec(type="gp2", size_gib=100)
    found = Scene(spec=spec, iops=iops, mib_s=mib_s, flags=flags).answer
    assert isinstance(found, Migrate)
    assert found.target.usd_month == pytest.approx(8.2, abs=0.25)


def test_tolerating_more_never_saves_less():
    iops, mib_s = level(3200, 8)
    iops[100:900:100] = 9000
    scene = Scene(spec=VolumeSpec(type="io2", size_gib=500, iops=12_000), iops=iops, mib_s=mib_s)
    prices = [step.usd_month for step in scene.answer.comparison.frontier]
    assert prices == sorted(prices, reverse=True)
    assert prices[-1] < prices[0]


def test_a_repair_is_not_undone_before_it_has_settled():
    iops, _ = level(np.minimum(noisy(6000), 3000), 16)
    iops[-120:] = noisy(3500)[-120:]
    scene = Scene(
        spec=gp3(16_000, 125),
        iops=iops,
        mib_s=iops * 16 / 1024,
        earlier=gp3(3000, 125),
        changed_at=MINUTES - 120,
    )
    found = scene.answer
    assert isinstance(found, Wait)
    assert found.until == (NOW + timedelta(days=7) - timedelta(hours=2)).date()
    assert found.expected.usd_month < found.usd_month_now
