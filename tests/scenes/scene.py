"""Scene: a volume with its past, what it does, and the right answer with its reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from plimsoll.domain.volume import VolumeSpec
from tests.scenes.work import Does, Time

MEASURED: Final = {
    "iops_check": "InstanceEBSIOPSExceededCheck",
    "mib_s_check": "InstanceEBSThroughputExceededCheck",
    "iops_balance": "EBSIOBalance%",
    "mib_s_balance": "EBSByteBalance%",
}
"""What CloudWatch measures of a host: checks minute by minute, balances every five minutes. What a scene does not name
is absent, as is NaN."""

Target = tuple[str, int, int | None, int | None]
"""Type, GiB, IOPS and MiB/s."""


@dataclass(frozen=True, kw_only=True)
class Right:
    """What a storage engineer answers.

    `action` are the labels that say the same thing, `saved` USD a month, `waits_until` a date, `blocked` whether
    something forbids the change today, `relief` the offer that is priced beside it, `full` the one that keeps
    all limits where the host takes some, `frontier` what some budgets of throttled minutes in 30 days cost at most,
    `says` a word that must stand among the reasons. `too_risky` is the reduction that is left out because of its risk.
    `step` is what people do with it, `losses` what is given up, and `codes` are reasons that must be there, and
    `without` those that must not.
    """

    action: tuple[str, ...]
    target: Target | None = None
    saved: float | None = None
    waits_until: str | None = None
    blocked: bool | None = None
    relief: Target | None = None
    full: Target | None = None
    frontier: dict[float, float] = field(default_factory=dict)
    says: str | None = None
    too_risky: Target | None = None
    step: str | None = None
    losses: tuple[str, ...] | None = None
    codes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Was:
    """What a volume was until some hours ago; `modifying`: the change still goes on."""

    spec: VolumeSpec
    until_h: float
    modifying: bool = False


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One volume. Ages are in hours before now; volumes that name the same `host_id` share it; `stripe` names the
    md device that it is a member of, `module` the Terraform module that makes it, `group` the Auto Scaling group that
    made its host; `takeover` names those that take over from one another, as `tags` or the name say to Plimsoll;
    `policy` holds for this volume alone; `hosts` is how many it is attached to, `host_was` which type its host was
    until how many hours ago, as an earlier audit saw, and `state` one that its attachments do not tell. With
    `five_minutes` its host publishes one sum each five minutes; `ebs_optimized` is what it says of itself, and
    `stopped_h` how many hours ago it was stopped. `measured` is what CloudWatch has of its only host, by the names of
    `MEASURED`; None: what its volumes did says it.
    """

    name: str
    spec: VolumeSpec
    does: Does | None
    right: Right
    why: str
    was: Was | None = None
    host: str = "m5.4xlarge"
    nitro: bool = True
    five_minutes: bool = False
    ebs_optimized: bool = True
    host_id: str | None = None
    hosts: int = 1
    host_was: tuple[str, float] | None = None
    stopped_h: float | None = None
    created_h: float = 90 * 24
    attached_h: float = 90 * 24
    launched_h: float | None = None
    restored: bool = False
    stripe: str | None = None
    module: str | None = None
    group: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    excluded: bool = False
    zone: str = "us-east-1a"
    state: str | None = None
    measured: Callable[[Time], Mapping[str, Any]] | None = None
    takeover: str | None = None
    policy: dict[str, Any] = field(default_factory=dict)

    def takes_over_from(self, other: "Scene") -> bool:
        """Whether it is declared that one takes over from the other."""
        return self.takeover is not None and self.takeover == other.takeover and self.name != other.name


def keep(**more: Any) -> Right:
    """Nothing better is worth it."""
    return Right(action=("keep",), **more)


def wait(until: str | None, **more: Any) -> Right:
    """A reduction that cannot be judged yet; `until` None: on no certain day."""
    return Right(action=("wait",), waits_until=until, **more)


def insufficient(**more: Any) -> Right:
    """Too little is known."""
    return Right(action=("insufficient-data",), **more)


def migrate(target: Target, saved: float, **more: Any) -> Right:
    """Another type for less."""
    return Right(action=("migrate",), target=target, saved=saved, **more)


def reprovision(target: Target, saved: float, **more: Any) -> Right:
    """Other figures for less."""
    return Right(action=("reprovision",), target=target, saved=saved, **more)


def upgrade(target: Target, saved: float, **more: Any) -> Right:
    """It is throttled today; a negative saving is what the relief costs."""
    return Right(action=("upgrade",), target=target, saved=saved, **more)
