"""The simulated projects' recommendations are those of the naive oracle, at full one-minute resolution."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pytest

from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.running import running_google
from plimsoll.model.policy import ANY_RISK_PCT, Policy
from plimsoll.reading.window import Window
from tests.oracle.compare import differences
from tests.oracle.google import decide
from tests.oracle.google_fleet import EXCLUDED, plain
from tests.oracle.google_limits import DISKS
from tests.pipelines.in_process import audited_projects

pytestmark = pytest.mark.once

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Audited:
    fleet: GoogleFleet
    window: Window
    run: dict
    recommendations: dict

    def named(self, name):
        (found,) = [found for found in self.recommendations.values() if found["name"] == name]
        return found


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((1, 2), id="two-days"),
        pytest.param((1, 14), id="two-weeks", marks=pytest.mark.release),
        pytest.param((2, 2), id="two-days-of-another-seed", marks=pytest.mark.release),
    ],
)
def audited(tmp_path_factory, request):
    """The projects of a seed, audited over some days by the ordinary path."""
    seed, days = request.param
    folder = tmp_path_factory.mktemp("runs") / "google-truth"
    with running_google(NOW, seed=seed) as projects:
        run = audited_projects(projects, folder, NOW, Policy(lookback_days=days, risk_pct=ANY_RISK_PCT))
    found = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    recommendations = {one["volume_id"]: one for one in found}
    return Audited(projects.fleet, Window.before(NOW, days=days), run, recommendations)


def test_every_recommendation_is_the_oracles(audited):
    recommendations = audited.recommendations
    answers = decide([plain(disk, audited.window) for disk in audited.fleet.volumes])
    assert set(answers) == set(recommendations)
    others = [
        f"{recommendations[name]['name']}: {difference}"
        for name, expected in answers.items()
        for difference in differences(recommendations[name], expected)
    ]
    assert not others, "\n".join(others)


def test_the_projects_have_every_answer_and_the_totals_reconcile(audited):
    fleet, run, recommendations = audited.fleet, audited.run, audited.recommendations
    actions = {found["action"] for found in recommendations.values()}
    assert actions - {"wait"} == {"migrate", "reprovision", "upgrade", "keep", "detached", "insufficient-data"}
    volumes = run["volumes"]
    assert volumes["seen"] == len(fleet.volumes) >= 100
    assert volumes["reconciled"]
    unknown = [disk.id for disk in fleet.volumes if disk.spec.type not in DISKS]
    excluded = [disk.id for disk in fleet.volumes if EXCLUDED in disk.labels]
    assert volumes["failed"] == len(unknown) > 0
    assert sum(volumes["skipped"].values()) == len(excluded) > 0
    assert not recommendations.keys() & {*unknown, *excluded}


@pytest.mark.parametrize(
    ("name", "action", "target", "why"),
    [
        ("web-data", "migrate", "pd-balanced", "there is room in the pool that it joins"),
        ("feed-data", "keep", "pd-ssd", "the pool that it would join is at its ceiling"),
        ("erp-data", "migrate", "pd-balanced", "its excluded sibling is carried by what stays"),
        ("mill-data", "keep", "pd-ssd", "its excluded sibling would not be"),
        ("growing-more", "insufficient-data", None, "it is too young"),
        ("growing-data", "keep", "pd-ssd", "its sibling is too young"),
        ("swap-data", "migrate", "pd-balanced", "of two that become each other's type it saves"),
        ("swap-log", "upgrade", "pd-ssd", "it is relieved, and what is left of the other type carries it"),
        ("depot-archive", "upgrade", "pd-standard", "a larger size is faster, and costs less than another type"),
        ("desk-extreme", "migrate", "pd-balanced", "one pool carries it and its sibling"),
        ("desk-data", "migrate", "pd-balanced", "one pool carries it and its sibling"),
        ("audit-trail-data", "upgrade", "pd-standard", "its writes alone are at their limit"),
        ("tapes-in", "upgrade", "pd-balanced", "its writes and its sibling's reads are at the limit together"),
        ("tapes-out", "upgrade", "pd-balanced", "the same the other way round"),
        ("hpc-writer", "migrate", "pd-balanced", "its machine lets no more writes pass of the dearer type"),
        ("vault-hot", "reprovision", "hyperdisk-extreme", "its machine lets no more pass of the cheaper type"),
        ("farm", "reprovision", "hyperdisk-balanced", "its machines carry it together, as neither does alone"),
        ("plant-data", "migrate", "pd-balanced", "its machine alone holds its excluded sibling, which keeps enough"),
        ("archive-a", "upgrade", "pd-balanced", "its pool is throttled"),
        ("media", "upgrade", "pd-ssd", "a boot disk goes with its pool"),
        ("lottery-data", "keep", "pd-ssd", "a cheaper type does not carry its busiest second"),
    ],
)
def test_what_a_disk_may_become_depends_on_its_neighbors_and_directions(audited, name, action, target, why):
    found = audited.named(name)
    became = found["target"] and found["target"]["type"]
    assert (found["action"], became) == (action, target), why


def test_one_busy_second_sizes_an_offer_that_no_minute_would(audited):
    found = audited.named("auction-data")
    second = found["demand"]["peak_second_iops"]
    assert found["action"] == "reprovision"
    assert found["target"]["iops"] == 100 * np.ceil(1.2 * second / 100 - 1e-6)
    assert found["target"]["iops"] > 1.5 * found["demand"]["peak_iops"]  # the most that any minute can have had
