"""Fleets for tests: demand as a fleet's file has it, and scenarios to try it on."""

from pathlib import Path

import numpy as np

from plimsoll.clouds.common.dated_data import shipped_prices, volume_types
from plimsoll.decide.offers import Market
from plimsoll.demand.demand import Demand
from plimsoll.model.policy import Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll_backtest.scenario import Scenario

PERIOD_S = 3600


def market() -> Market:
    book = shipped_prices("aws").book("us-east-1")
    assert book is not None
    return Market(provider="aws", types=volume_types("aws"), book=book)


def a_scenario(**keys) -> Scenario:
    present = VolumeSpec(type="gp3", size_gib=500, iops=16000, throughput_mib_s=1000)
    usual = {"market": market(), "policy": Policy(), "present": present, "to": "gp3"}
    return Scenario(**{**usual, "memories_days": (14.0,), "days": 7.0, "budget_min": 60.0, **keys})


def write_fleet(path: Path, iops: np.ndarray, period_s: int = PERIOD_S) -> Path:
    """A fleet of volumes that read 16 KiB: IOPS of (volumes, buckets), NaN where there is no sample."""
    ops = iops * period_s
    none = np.where(np.isnan(ops), np.nan, 0.0)
    names = np.array([f"vol-{at:04d}" for at in range(len(iops))])
    sums = {"read_ops": ops, "write_ops": none, "read_bytes": ops * 16384, "write_bytes": none}
    np.savez_compressed(path, volume=names, period_s=period_s, start_epoch_s=0, **sums)
    return path


def bursty(volumes: int, days: int, seed: int = 1, period_s: int = PERIOD_S) -> np.ndarray:
    """IOPS of volumes of one kind, whose weeks are alike by chance: bursts of any height, on any day."""
    rng = np.random.default_rng(seed)
    level = rng.lognormal(8, 0.6, (volumes, 1))
    return np.minimum(level * rng.lognormal(0, 0.5, (volumes, days * 86400 // period_s)), 15_000)


def demand_of_rates(rates: np.ndarray, period_s: int = 300) -> Demand:
    """The product's demand of IOPS and MiB/s, (2, buckets)."""
    return Demand(
        start_s=0,
        resolution_s=period_s,
        coarsest_s=period_s,
        observed=np.ones(rates.shape[-1], dtype=bool),
        rates=np.stack([rates, rates], axis=1),
        busy_share=None,
        busiest=None,
    )
