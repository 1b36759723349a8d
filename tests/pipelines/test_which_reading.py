"""Which reading: small targets by the minute, large ones sparingly, and neither is billed more than the other way."""

from dataclasses import replace

import pytest

from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.organization import Mix, fleet_of
from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.ports import BY_MINUTES_S
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Policy
from plimsoll.outcomes import Answered
from plimsoll.settings import Settings
from tests.builders import NOW
from tests.pipelines.organization_here import served_here

pytestmark = pytest.mark.once

MINUTE_S = 60


class Account:
    """One simulated account, audited in this process in any of the ways."""

    def __init__(self, fleet: Fleet, ledger: Ledger) -> None:
        self._fleet, self._ledger = fleet, ledger

    def ports(self, *, by_minutes_s=BY_MINUTES_S, every_minute=False):
        scope = Scope(role_arns=(), regions=self._fleet.regions)
        (ports,) = ports_of(scope, Settings(), today=NOW.date(), ledger=self._ledger, paced=False)
        return replace(ports, by_minutes_s=by_minutes_s, every_minute=every_minute)

    def audited(self, **how):
        """The answers by volume id, and demand."""
        ports = self.ports(**how)
        answers = [one for one in run_audit(ports, Policy(), NOW) if isinstance(one, Answered)]
        return {one.recommendation.volume.id: one for one in answers}, ports.metrics.usage


WAYS = {"chosen": {"by_minutes_s": 10.0}, "sparing": {"by_minutes_s": 0.0}, "whole": {"every_minute": True}}
"""An account as it is read, and both ways to read it throughout. Ten seconds are enough for 12 volumes, not for 104."""

SMALL, LARGE = 12, 204


@pytest.fixture(scope="module")
def way(tmp_path_factory):
    """An account of so many volumes, read in a way: its answers by volume id, and demand."""
    found = {}

    def read(volumes, name):
        if (volumes, name) not in found:
            fleet = fleet_of(volumes, NOW, mix=Mix.EVERYDAY)
            with served_here(fleet):
                account = Account(fleet, Ledger(path=tmp_path_factory.mktemp("account") / "ledger.json"))
                found[volumes, name] = account.audited(**WAYS[name])
        return found[volumes, name]

    return read


@pytest.mark.parametrize("volumes", [SMALL, pytest.param(LARGE, marks=pytest.mark.release)])
def test_no_metric_more_is_billed_than_in_the_cheaper_of_both_ways_and_the_answers_are_the_same(way, volumes):
    (chosen, asked), (sparing, least), (whole, every) = (way(volumes, name) for name in WAYS)
    assert asked.metrics <= min(least.metrics, every.metrics)
    assert chosen.keys() == sparing.keys() == whole.keys()
    for name, exact in whole.items():
        for found in (chosen[name], sparing[name]):
            assert found.change == exact.change, name
            assert found.recommendation.action == exact.recommendation.action, name
            codes = [blocker.code for blocker in found.recommendation.blockers]
            assert codes == [blocker.code for blocker in exact.recommendation.blockers]


def test_a_small_account_is_read_by_the_minute(way):
    answers, asked = way(SMALL, "chosen")
    assert asked.datapoints > way(SMALL, "whole")[1].datapoints / 2
    assert all(has_known_peaks(answered) for answered in answers.values() if answered.profile is not None)


def test_a_large_account_is_read_sparingly_and_what_can_save_the_most_is_shown_by_the_minute(way):
    answers, asked = way(LARGE, "chosen")
    assert asked.datapoints < LARGE * way(SMALL, "whole")[1].datapoints / SMALL / 30
    assert not all(has_known_peaks(answered) for answered in answers.values() if answered.profile is not None)
    saved = {name: getattr(one.recommendation, "usd_month_saved", 0.0) for name, one in answers.items()}
    first = [answers[name] for name, usd in saved.items() if usd > max(saved.values()) - 0.01]
    assert any(min(one.profile.shortest_s) == MINUTE_S and has_known_peaks(one) for one in first)


def has_known_peaks(answered):
    """Whether the highest minutes of a volume were read."""
    demand = answered.recommendation.demand
    most = (demand.peak_iops, demand.peak_throughput_mib_s)
    return (demand.least_peak_iops, demand.least_peak_throughput_mib_s) == pytest.approx(most, rel=1e-6)
