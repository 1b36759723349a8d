"""A fleet from the clouds' own history, read over HTTP from the simulator, and what a backtest makes of it."""

import os
from unittest.mock import patch

import numpy as np
import pytest

from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import running
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import BadInput
from plimsoll.settings import Settings
from plimsoll_backtest.cloud_fleet import fleet_of_clouds
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.run import run_backtest
from tests.pipelines.test_truth import NOW
from tests.unit.backtest.fleets import a_scenario

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """The file of all lives by the hour, what could not be read, and the ports that it was read by."""
    out, failed = tmp_path_factory.mktemp("fleet") / "lives.npz", []
    with running(NOW, mix=Mix.LONG_LIVES) as organization, patch.dict(os.environ, organization.environment):
        scope = Scope(role_arns=organization.role_arns, regions=organization.fleet.regions)
        audits = ports_of(scope, Settings(), today=NOW.date(), paced=False)
        volumes = fleet_of_clouds(audits, NOW, out, 3600, failed.append)
        with pytest.raises(BadInput, match="keeps periods of 30 s"):
            fleet_of_clouds(audits, NOW, out.with_name("none.npz"), 30, failed.append)
    return out, volumes, failed, organization.fleet


def test_the_whole_kept_history_of_every_volume_is_in_the_file(read):
    out, volumes, failed, simulated = read
    fleet = Fleet(out, 32)
    assert failed == []
    assert len(fleet.shape.names) == volumes == len(simulated.volumes)
    assert fleet.shape.period_s == 3600
    assert fleet.shape.buckets in {455 * 24 - 1, 455 * 24}
    assert fleet.counts_operations
    assert set(fleet.shape.owners) != {""}
    (batch,) = fleet.batches()
    highest = np.sort(np.nanmax(batch.rates[:, 0], axis=1))
    assert highest[-1] == pytest.approx(12_000, rel=0.05)  # The migration of March, 240 days ago.
    assert highest[0] < 1000


def test_a_backtest_goes_over_it(read, tmp_path):
    out, volumes, _failed, _simulated = read
    found = run_backtest(Fleet(out, 32), a_scenario(memories_days=(60.0,), days=30.0, every_days=60.0), tmp_path)
    assert found.about["volumes"] == volumes
    assert found.about["operations"] == "counted"
    assert max(one.volume_cuts for one in found.rules) >= 5 * 5
