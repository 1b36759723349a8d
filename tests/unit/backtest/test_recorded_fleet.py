"""A fleet from a recording: what was recorded is added up, and what was not is unknown."""

import zipfile

import numpy as np
import pytest

from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.recorder import RecordedPorts, Recorder
from plimsoll.clouds.recording import is_recording
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import AccessDenied, BadInput, Throttled
from plimsoll.ports import Target
from plimsoll_backtest.api import backtest
from plimsoll_backtest.cli.fleet import make_fleet
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.recorded_fleet import fleet_of_recording
from tests.builders import NOW, TYPES, US_EAST_1, a_tariff
from tests.in_memory.ports import MemoryCatalog, MemoryInventory, MemoryMetrics, MemoryPrices
from tests.unit.backtest.fleets import bursty, write_fleet
from tests.unit.domain.lives import MINUTES, OLDEST_S, PLAIN, RETENTION, WINDOW, a_large, a_life

VOLUMES = [a_large(id="vol-a"), a_large(id="vol-b"), a_large(id="vol-unread")]
GAP = slice(MINUTES - 700, MINUTES - 100)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recorded audit of two volumes with 80 days before their window, the second with a gap in it, and their IOPS."""
    path = tmp_path_factory.mktemp("recorded") / "audit.zip"
    iops = np.random.default_rng(3).uniform(0, 4000, (2, MINUTES))
    broken = {Target(account="444455556666", region="us-east-1"): AccessDenied("cannot read it.")}
    lives = {"vol-a": a_life(iops[0]), "vol-b": a_life(iops[1], absent=[(GAP.start, GAP.stop)])}
    metrics = MemoryMetrics(given=lives, memory_days=455, broken={"vol-unread": Throttled("asked too often.")})
    with Recorder(path, NOW, "1.2.3", {"aws": RETENTION}, {"aws": 455.0}) as recorder:
        through = RecordedPorts(
            inventory=MemoryInventory(given=VOLUMES, broken=broken),
            metrics=metrics,
            prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
            recorder=recorder,
            provider="aws",
        )
        ports = AuditPorts(
            query_cost=a_tariff(),
            inventory=through,
            metrics=through,
            prices=through,
            catalog=MemoryCatalog(types=TYPES, provider="aws"),
            envelopes=(),
            every_minute=True,
        )
        list(run_audit(ports, PLAIN, NOW))
    return path, iops


def expected(iops, period_s):
    """The mean of each bucket by the minutes that were there, of a life whose gap took no sample."""
    gone = iops.copy()
    gone[1, GAP] = np.nan
    ops = np.round(gone * 60).reshape(2, -1, period_s // 60)
    seen = ~np.isnan(ops).all(axis=2)
    return np.where(seen, np.nansum(ops, axis=2) / period_s, np.nan)


@pytest.mark.parametrize("period_s", [300, 3600])
def test_what_was_recorded_is_added_up_and_the_rest_is_unknown(recording, tmp_path, period_s):
    (path, iops), failed = recording, []
    assert fleet_of_recording(path, tmp_path / "fleet.npz", period_s, failed.append) == 2
    fleet = Fleet(tmp_path / "fleet.npz", 32)
    (batch,) = fleet.batches()
    assert [name.rsplit("/", 1)[1] for name in fleet.shape.names] == ["vol-a", "vol-b"]
    found, whole = batch.rates[:, 0], expected(iops, period_s)
    buckets = min(whole.shape[1], found.shape[1])
    assert np.isnan(found[:, :-buckets]).all()  # It was made a week before anything is known of it.
    found, whole = found[:, -buckets:], whole[:, -buckets:]
    both = ~np.isnan(found)
    assert np.allclose(found[both], whole[both])
    begins_s = WINDOW.end_s - period_s * found.shape[1]
    kept_from_s = NOW.timestamp() - 63 * 86400 if period_s == 300 else OLDEST_S
    starts_s = begins_s + period_s * np.arange(found.shape[1])
    inside = (starts_s >= kept_from_s + 86400) & (starts_s < WINDOW.end_s)
    assert np.array_equal(np.isnan(found[:, inside]), np.isnan(whole[:, inside]))
    assert [sentence.partition(":")[0] for sentence in failed] == [
        "111122223333/us-east-1/vol-unread",
        "444455556666/us-east-1",
    ]


def test_a_backtest_takes_a_recording_as_it_is(recording, tmp_path):
    path, _ = recording
    found = backtest(
        path, out=tmp_path, period_s=3600, memories_days=(14.0,), days=14.0, every_days=7.0, budget_min=60.0
    )
    assert found.about["volumes"] == 2
    assert found.about["operations"] == "counted"
    # Not at the first cut, of whose days too few are known.
    assert {one.volume_cuts for one in found.rules} == {2 * (found.about["cuts_judged"]["14"] - 1)}


def test_the_command_makes_a_fleet_of_one_recording_alone(recording, tmp_path):
    path, _ = recording
    make_fleet([path], Scope(), tmp_path / "fleet.npz", 3600)
    assert len(Fleet(tmp_path / "fleet.npz", 32).shape.names) == 2
    with pytest.raises(BadInput, match="make a fleet of it alone"):
        make_fleet([path, tmp_path / "more.csv"], Scope(), tmp_path / "none.npz", 3600)
    assert not (tmp_path / "none.npz").exists()


def test_what_is_no_recording_or_has_nothing_so_fine_is_refused(recording, tmp_path):
    path, _ = recording
    assert is_recording(path)
    assert not is_recording(write_fleet(tmp_path / "fleet.npz", bursty(2, 3)))
    with pytest.raises(BadInput, match="--period-s"):
        fleet_of_recording(path, tmp_path / "none.npz", 30, list[str]().append)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as made:
        made.writestr("about.json", "{}")
    with pytest.raises(BadInput, match="not a recording"):
        fleet_of_recording(tmp_path / "empty.zip", tmp_path / "none.npz", 300, list[str]().append)
