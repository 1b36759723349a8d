"""The desk: everything that a validation works with besides what it validates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.domain.need import Need
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType
from plimsoll.domain.workload import WorkloadShape
from plimsoll.ports import Bench, BenchHost, Claims, Target
from plimsoll.validation.patience import Patience


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where is measured and by what rules. `host_ids` are bench hosts by id, in place of those with the policy's tags;
    `measured_dir` is the folder that campaigns are added to; `tell` hears each step as a sentence;
    of two validations of one class, the one that has no claim on it waits for the other's result;
    `in_place_file_mib` is the size of the file on a volume in use. Hosts that are not `is_free` are chosen last."""

    bench: Bench
    book: ValidationBook
    claims: Claims
    measured_dir: Path
    provider: str
    types: Mapping[str, VolumeType]
    policy: Policy
    patience: Patience
    runtime_s: int
    ramp_s: int
    new_id: Callable[[], str]
    tell: Callable[[str], None]
    host_ids: tuple[str, ...] = ()
    in_place_file_mib: int = 2048
    is_free: Callable[[BenchHost], bool] = lambda _host: True

    def target(self, account: str, region: str) -> Target:
        """A place of the cloud where is measured."""
        return Target(account=account, region=region, provider=self.provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The volume whose workload is run: what its target must carry, its shape (None where nothing was ever asked), its
    peaks, and its mean latency today (None where the cloud tells none).

    Need and peaks are counted as the ceiling of the run counts, the shape's rates are real. Where its target is of a
    type that volumes share, the need is that of all of them, and `pool_gib` the size of all.
    """

    volume: Volume
    need: Need
    shape: WorkloadShape | None
    peak_iops: float
    peak_throughput_mib_s: float
    today_mean_latency_us: float | None
    pool_gib: int | None = None
