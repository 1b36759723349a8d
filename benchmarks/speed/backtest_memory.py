"""How much memory it takes to read, learn from and judge a large fleet over all that CloudWatch keeps, by the hour.

`python benchmarks/speed/backtest_memory.py [VOLUMES] [DAYS] [EVERY_DAYS]` makes a fleet's file, learns a table from it
and backtests it in a process of its own, and prints the peak memory. 10,000 volumes take a file of 1.7 GB and half an
hour of one core, so that `make bench` does not run it.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from measured_audit import ROOT, Row

from plimsoll_backtest.api import PRESENT, scenario_of
from plimsoll_backtest.fleet import SUMS, Fleet
from plimsoll_backtest.learn import learn
from plimsoll_backtest.run import run_backtest

VOLUMES, DAYS, EVERY_DAYS = 10_000, 455, 28
LIMIT_MIB = 2048
HOUR_S = 3600
DAY_H = 24
BUDGET_MIN = 60.0
"""One bucket of an hour: less cannot be told from none."""

MEMORIES_DAYS = (60.0, 180.0)
CHUNK = 200
IO_BYTES = 16 * 1024


def measure(volumes: int = VOLUMES, days: int = DAYS, every_days: int = EVERY_DAYS) -> list[Row]:
    """The row of the peak memory against 2 GiB."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-fleet-") as temporary:
        path = Path(temporary) / "fleet.npz"
        write_fleet(path, volumes, days)
        command = [sys.executable, __file__, "--of", str(path), str(every_days)]
        environment = {"PYTHONPATH": f"{ROOT / 'lib'}:{Path(__file__).parent}"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    if done.returncode:
        raise SystemExit(f"the backtest of {volumes:,} volumes failed:\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    return [
        Row(
            what=f"peak memory of learning from and judging {volumes:,} volumes over {days} days by the hour, in 2 GiB",
            measured=f"{found['peak_mib']:,.0f} MiB",
            ratio=found["peak_mib"] / LIMIT_MIB,
            target=1.0,
            note=f"{found['cuts']} cuts; learned in {found['learned_s']:,.0f} s, judged in {found['judged_s']:,.0f} s",
        )
    ]


def write_fleet(path: Path, volumes: int, days: int) -> None:
    """A fleet of that size, by the hour: a day's curve, noise, and a burst in some hours; each array by parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, value in (("volume", np.arange(volumes)), ("period_s", np.array(HOUR_S))):
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, value, allow_pickle=False)
        for side, name in enumerate(SUMS):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                _head(file, (volumes, days * DAY_H))
                for part in _operations(volumes, days):
                    file.write((part * (IO_BYTES if side > 1 else 1)).astype(np.float32).tobytes())


def _operations(volumes: int, days: int) -> Iterator[np.ndarray[Any, np.dtype[np.float64]]]:
    """Operations an hour of reads, or as many writes, by parts of the volumes; the same whenever asked."""
    hours = np.arange(days * DAY_H)
    curve = 0.55 + 0.45 * np.cos(2 * np.pi * (hours % DAY_H - 14) / DAY_H)
    for first in range(0, volumes, CHUNK):
        rng = np.random.default_rng(first)
        count = min(CHUNK, volumes - first)
        peak = 10 ** rng.uniform(2.0, 4.2, (count, 1))
        rates = peak * curve * np.exp(rng.normal(0, 0.15, (count, len(hours))))
        rates[rng.random(rates.shape) < 0.001] *= 3
        yield rates * HOUR_S / 2


def _head(file: IO[bytes], shape: tuple[int, int]) -> None:
    np.lib.format.write_array_header_2_0(
        file, {"descr": np.lib.format.dtype_to_descr(np.dtype(np.float32)), "fortran_order": False, "shape": shape}
    )


def process(path: Path, every_days: float) -> dict[str, float]:
    """Learns from a fleet and judges it; the peak memory of this process, and the seconds of each."""
    scenario = scenario_of(
        present=PRESENT,
        to="gp3",
        region="us-east-1",
        times=(1.0,),
        memories_days=MEMORIES_DAYS,
        days=30.0,
        every_days=every_days,
        budget_min=BUDGET_MIN,
        io_kib=16.0,
        policy=None,
        prices=None,
    )
    fleet, begun = Fleet(path, 16.0), time.monotonic()
    learn([fleet], scenario, path.parent / "learned", on="2026-11-23", public=False)
    learned = time.monotonic()
    run_backtest(fleet, scenario, path.parent / "judged")
    judged = time.monotonic()
    return {
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "cuts": len(scenario.cuts(fleet.shape.buckets * HOUR_S / 86_400)),
        "learned_s": learned - begun,
        "judged_s": judged - learned,
    }


def main() -> None:
    """Prints the row, or, in the process of its own, what it took."""
    if sys.argv[1:2] == ["--of"]:
        sys.stdout.write(json.dumps(process(Path(sys.argv[2]), float(sys.argv[3]))) + "\n")
        return
    (row,) = measure(*(int(one) for one in sys.argv[1:4]))
    sys.stdout.write(f"{row.what}: {row.measured} ({row.note})\n")


if __name__ == "__main__":
    main()
