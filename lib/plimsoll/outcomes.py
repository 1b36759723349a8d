"""Outcomes: what becomes of each volume and target of an audit, as a stream that reports and run folders consume."""

from dataclasses import dataclass
from datetime import date

from plimsoll.decide.answer import NO_CHANGE, ChangeSteps, Recommendation
from plimsoll.demand.profile import DemandProfile
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.model.errors import BadAnswer, CloudError
from plimsoll.ports import FailedTarget, Target
from plimsoll.reading.cost import Plan

ANSWERED_BEFORE = "answered by an earlier part of this run"
"""Why a volume is skipped that is done."""

DELETED = "deleted meanwhile"
"""The kind under which volumes are counted that were deleted while they were read."""

EXCLUDED = "excluded by somebody"
"""The kind under which volumes are counted that people excluded. Who and why is the reason of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InScope:
    """The targets that an audit begins with."""

    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumesSeen:
    """A target's inventory is complete: so many volumes."""

    target: Target
    volumes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The expected reading of a target's metrics."""

    target: Target
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """The source and the date of a target's prices (None: there are none)."""

    target: Target
    source: str
    as_of: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A volume's recommendation, and what goes with it.

    - `change` is how its owner would make the change and take it back.
    - `profile` is the profile of its demand; None where no metrics were read.
    - `seen` is what a probe saw of it last; None where it was never probed.
    """

    target: Target
    recommendation: Recommendation
    change: ChangeSteps = NO_CHANGE
    profile: DemandProfile | None = None
    seen: SecondsSeen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A volume that the policy or somebody leaves out, or that an earlier part of the run has answered.

    `kind` is what it is counted under, empty where that is the reason: people's own words are no kind.
    """

    target: Target
    volume_id: str
    reason: str
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedVolume:
    """A volume that could not be answered, with the sentence that says why.

    Where an answer of the cloud could not be used, `raw` is that answer.
    """

    target: Target
    volume_id: str
    reason: str
    raw: str = ""

    @classmethod
    def from_error(cls, target: Target, volume_id: str, error: CloudError) -> "FailedVolume":
        """The volume that this error is the reason of."""
        raw = error.raw if isinstance(error, BadAnswer) else ""
        return cls(target=target, volume_id=volume_id, reason=str(error), raw=raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something people should know about a target."""

    target: Target
    text: str


Outcome = InScope | VolumesSeen | Planned | Priced | Answered | Skipped | FailedVolume | FailedTarget | Notice
