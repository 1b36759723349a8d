"""Time from Enter to the answer: whole processes against canned answers, 50 ms a call, with CloudWatch's quotas.

Cloud Custodian asks the same server.

    .venv/bin/python benchmarks/speed/waiting.py [VOLUMES ...]
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from canned import canned, take_counts
from figures import Ended, Row, timed
from peer_c7n import C7N_VERSION, installed, run_c7n

from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import Running, running

LATENCY_MS: Final = 50.0
CALLS_PER_S: Final = 500
DATAPOINTS_PER_S: Final = 396_000
"""Quotas of an account in a region, a second: calls of GetMetricData, and their datapoints where windows begin
more than three hours ago (Amazon CloudWatch User Guide, "CloudWatch service quotas")."""

PAGE_VOLUMES: Final = 500
"""The volumes of the account that larger ones are copies of: a page of EC2, and a batch of an audit."""

SIZES: Final = (500, 5_000)
"""Larger accounts take a quarter of an hour each: `waiting.py 25000` measures one."""

MOST_ONE_S: Final = 1.2
MOST_ONE_CPU_S: Final = 0.9
MOST_ABOVE_QUOTA_S: Final = 2.2
FASTER_THAN_C7N: Final = 15.0
REPEATS: Final = 3
_LEARNING: Final = 5
"""Audits in which a server may learn the answers; the next hour has others, and a slow simulator has none in time."""


@dataclass(frozen=True, kw_only=True)
class Audited:
    """An audit from start to end, and what it asked of CloudWatch."""

    ended: Ended
    usage: Mapping[str, Any]

    @property
    def quota_s(self) -> float:
        """The seconds that CloudWatch's quotas take for what was asked."""
        return max(float(self.usage["datapoints"]) / DATAPOINTS_PER_S, float(self.usage["calls"]) / CALLS_PER_S)


def measure(sizes: Sequence[int] = SIZES) -> Iterator[Row]:
    """The rows of one volume, of larger accounts, and of Cloud Custodian."""
    with account_of(1) as account:
        yield from _one_volume(known(account, REPEATS))
    with account_of(PAGE_VOLUMES) as account:
        for size in sizes:
            (audited,) = known(account, 1, copies=max(1, size // PAGE_VOLUMES))
            yield _above_quota(audited, size)
            if size == PAGE_VOLUMES:
                yield _against_c7n(account, audited)


@contextmanager
def account_of(volumes: int) -> Iterator[Running]:
    """A simulated account of quiet gp2 volumes in the present, behind a server that learns its answers."""
    with running(datetime.now(UTC), volumes=volumes, mix=Mix.QUIET) as account, canned(account, LATENCY_MS) as known:
        yield known


def known(account: Running, repeats: int, copies: int = 1) -> list[Audited]:
    """So many audits that were answered from memory alone."""
    audits = list[Audited]()
    for _ in range(_LEARNING + repeats):
        take_counts(account, copies)
        audited = audit(account)
        audits += [audited] * (take_counts(account).passed_on == 0)
        if len(audits) == repeats:
            return audits
    raise SystemExit(f"{_LEARNING} audits were not enough for the server to learn its answers")


def audit(account: Running) -> Audited:
    """One `plimsoll audit`, its process from start to end."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        command = (sys.executable, "-m", "plimsoll", "audit", "--region", account.fleet.regions[0], "--out", "run")
        ended = timed(command, {"HOME": place, **account.environment}, folder=folder, ends=(0, 3))
        usage = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))["usage"]
    return Audited(ended=ended, usage=usage)


def _one_volume(audits: Sequence[Audited]) -> Iterator[Row]:
    elapsed_s = median(audited.ended.elapsed_s for audited in audits)
    used_s = median(audited.ended.cpu_s for audited in audits)
    yield Row.at_most("one volume, from Enter to the answer", elapsed_s, MOST_ONE_S, "s")
    yield Row.at_most("… of which CPU", used_s, MOST_ONE_CPU_S, "s")


def _above_quota(audited: Audited, volumes: int) -> Row:
    elapsed_s, quota_s = audited.ended.elapsed_s, audited.quota_s
    measured = f"{elapsed_s:.1f} s: the quota's {quota_s:.1f} and {elapsed_s - quota_s:.1f} more"
    if volumes != PAGE_VOLUMES:
        return Row(what=f"{volumes:,} volumes", measured=measured)
    bound = f"at most {MOST_ABOVE_QUOTA_S:g} s more than the quota's"
    return Row(
        what=f"{volumes:,} volumes", measured=measured, bound=bound, met=elapsed_s - quota_s <= MOST_ABOVE_QUOTA_S
    )


def _against_c7n(account: Running, audited: Audited) -> Row:
    """Cloud Custodian's second run of the same account: by then the server knows its answers too."""
    installed()
    for _ in range(_LEARNING):
        take_counts(account)
        peer = run_c7n(account.environment)
        if take_counts(account).passed_on == 0:
            break
    ratio = peer.seconds / audited.ended.elapsed_s
    return Row(
        what=f"{PAGE_VOLUMES:,} volumes by Cloud Custodian {C7N_VERSION}: {peer.calls:,} calls for hourly sums, "
        f"against {audited.usage['calls']:,} that prove the answer of every minute",
        measured=f"{peer.seconds:.1f} s, {ratio:.1f} times as long",
        bound=f"at least {FASTER_THAN_C7N:g} times as long",
        met=ratio >= FASTER_THAN_C7N,
    )


if __name__ == "__main__":
    for row in measure([int(size) for size in sys.argv[1:]] or SIZES):
        sys.stdout.write(f"{row}\n")
