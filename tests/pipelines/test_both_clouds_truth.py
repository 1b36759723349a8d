"""A run over both simulated clouds: one folder with every volume of both once, and each cloud's answers as alone."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running, running_google
from plimsoll.model.policy import ANY_RISK_PCT, Policy
from plimsoll.reports.run_reader import stream_profiles, stream_unanswered

from .in_process import audited, audited_both, audited_projects

pytestmark = [pytest.mark.once, pytest.mark.release]

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
ONE_DAY = Policy(lookback_days=1, risk_pct=ANY_RISK_PCT)


@dataclass(frozen=True)
class Run:
    told: dict
    recommendations: list
    unanswered: list
    profiles: list

    @classmethod
    def of(cls, folder, told):
        found = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
        return cls(told, found, list(stream_unanswered(folder)), list(stream_profiles(folder)))

    @property
    def ids(self):
        """Of what is answered and what is not."""
        return sorted([one["volume_id"] for one in self.recommendations] + [one.volume_id for one in self.unanswered])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The run over both, those of each alone, and the ids of all volumes that there are."""
    folder = tmp_path_factory.mktemp("runs")
    with running(NOW) as organization, running_google(NOW, volumes=1) as projects:
        both = Run.of(folder / "both", audited_both(organization, projects, folder / "both", NOW, ONE_DAY))
        aws = Run.of(folder / "aws", audited(organization, folder / "aws", NOW, ONE_DAY))
        google = Run.of(folder / "google", audited_projects(projects, folder / "google", NOW, ONE_DAY))
    return both, {"aws": aws, "google": google}, [*organization.fleet.volumes, *projects.fleet.volumes]


def test_every_volume_of_both_clouds_is_in_the_one_folder_exactly_once(runs):
    both, _alone, volumes = runs
    assert both.ids == sorted(volume.id for volume in volumes)
    assert both.told["volumes"]["seen"] == len(volumes)
    assert both.told["volumes"]["reconciled"]


def test_every_answer_is_that_of_its_cloud_alone(runs):
    both, alone, _ = runs
    for cloud, one in alone.items():
        assert by_id(found for found in both.recommendations if found["provider"] == cloud) == by_id(
            one.recommendations
        )
    assert {found["provider"] for found in both.recommendations} == set(alone)
    assert sorted(map(str, both.unanswered)) == sorted(str(left) for one in alone.values() for left in one.unanswered)
    assert sorted(map(str, both.profiles)) == sorted(str(kept) for one in alone.values() for kept in one.profiles)


def test_the_sums_are_those_of_both(runs):
    both, alone, _ = runs
    parts = [one.told for one in alone.values()]
    for figure, usd in both.told["monthly_usd"].items():
        assert usd == pytest.approx(sum(part["monthly_usd"][figure] for part in parts), abs=0.005), figure
    for what in ("calls", "metrics", "datapoints"):
        assert both.told["usage"][what] == sum(part["usage"][what] for part in parts), what
    assert both.told["usage"]["estimated_usd"] == pytest.approx(
        sum(part["usage"]["estimated_usd"] for part in parts), abs=0.0002
    )
    actions = {name for part in parts for name in part["actions"]}
    assert both.told["actions"] == {name: sum(part["actions"].get(name, 0) for part in parts) for name in actions}
    for cloud, one in alone.items():
        assert both.told["clouds"][cloud] == one.told["clouds"][cloud]
        mine = [found for found in both.recommendations if found["provider"] == cloud]
        now = sum(found["monthly_usd_now"] or 0.0 for found in mine)
        assert both.told["clouds"][cloud]["monthly_usd"]["now"] == pytest.approx(now, abs=0.01 * len(mine))
    for told in ("failures", "notices", "prices"):
        for part in parts:
            assert part[told].items() <= both.told[told].items() or told == "failures"


def by_id(records):
    return {found["volume_id"]: found for found in records}
