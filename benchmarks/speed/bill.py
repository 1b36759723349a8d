"""Time and memory that a year of a bill's hourly lines takes to read.

`python benchmarks/speed/bill.py [VOLUMES] [MONTHS]` writes months of Parquet as CUR 2.0 and reads them in a process of
its own. The whole (100,000 volumes, 12 months: 880 million lines) takes some GB of disk, and most of its time to be
written, so that `make bench` does not run it.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

from figures import ROOT, Row

from cloud_simulator.aws.bills import Charge, hours_of, write_bill
from plimsoll_bill.api import read_bill

VOLUMES, MONTHS = 100_000, 12
LIMIT_MIB, LIMIT_S = 1024, 300.0
USES_IOPS = 10
"""Volumes for each one with provisioned IOPS, which have lines of their own."""


def measure(volumes: int = VOLUMES, months: int = MONTHS) -> list[Row]:
    """The rows of memory against 1 GiB and of time against five minutes, which the lines of a whole year may take."""
    lines = 0
    with tempfile.TemporaryDirectory(prefix="plimsoll-bill-") as folder:
        for number in range(1, months + 1):
            month = date(2026, number, 1)
            charges = [*make_charges(volumes, month)]
            lines += len(charges) * hours_of(month)
            write_bill(charges, month, Path(folder) / f"{number:02}.parquet")
        command = [sys.executable, __file__, "--of", folder]
        environment = {"PYTHONPATH": f"{ROOT / 'lib'}:{Path(__file__).parent}"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    if done.returncode:
        raise SystemExit(f"the bill of {volumes:,} volumes could not be read:\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    whole = lines / (VOLUMES * (1 + 1 / USES_IOPS) * 8760)
    read_of = f"reading {lines:,} lines of a bill ({volumes:,} volumes, {months} months)"
    note = f", {found['cpu_s']:,.1f} s of CPU; {lines / found['elapsed_s'] / 1e6:,.1f} million lines a second"
    return [
        Row.at_most(f"peak memory of {read_of}", found["peak_mib"], LIMIT_MIB, "MiB"),
        Row.at_most(
            "... its time, of five minutes for a whole year", found["elapsed_s"], LIMIT_S * whole, "s", note=note
        ),
    ]


def make_charges(volumes: int, month: date) -> list[Charge]:
    """gp2 and gp3 volumes in five accounts, of which some have provisioned IOPS."""
    charges = []
    for number in range(volumes):
        place: dict[str, Any] = {
            "account": f"{number % 5:012}",
            "region": "us-east-1",
            "resource": f"vol-{number:017x}",
        }
        place |= {"to_hour": hours_of(month)}
        kind, price = ("gp2", 0.1) if number % 2 else ("gp3", 0.08)
        size_gib = 20.0 + number % 977
        charges.append(
            Charge(usage_type=f"EBS:VolumeUsage.{kind}", unit="GB-Mo", monthly=size_gib, price=price, **place)
        )
        if number % USES_IOPS == 0:
            charges.append(
                Charge(usage_type="EBS:VolumeP-IOPS.gp3", unit="IOPS-Mo", monthly=1000.0, price=0.005, **place)
            )
    return charges


def read(folder: str) -> dict[str, float]:
    """The figures of this process when it has read the bill and added it up."""
    started = time.perf_counter()
    with read_bill([folder]) as bill:
        sums = bill.sums("month", "type", "dimension")
        assert sums and not bill.find_unplaced()  # noqa: PT018, S101  # a bill that is not read is read fast
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "elapsed_s": time.perf_counter() - started,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss / 1024,
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--of"]:
        print(json.dumps(read(sys.argv[2])))  # noqa: T201  # to the process that measures
    else:
        for row in measure(*map(int, sys.argv[1:])):
            print(f"{row.what}: {row.measured}; {row.bound} {row.verdict}")  # noqa: T201  # a command
