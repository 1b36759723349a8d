"""Fields that many of EC2's answers have, checked as they are read.

A field is required where its absence would change an answer without a word. Figures beyond what can be bought, and
fields that contradict each other, are refused as well (Amazon EC2 API Reference, read 2026-11-22).
"""

import os
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from plimsoll.clouds.aws.lists import AwsAnswer
from plimsoll.clouds.aws.names import VOLUME_ID
from plimsoll.ports import SIMULATED_CLOCK

_FIRST_VOLUME: Final = datetime(2008, 1, 1, tzinfo=UTC)
"""EBS began in August 2008: an earlier time is no time of a volume."""

_AHEAD: Final = timedelta(days=1)
_SIMULATED_AHEAD: Final = timedelta(days=3650)
"""A simulated cloud's clock may have been moved."""

ATTACHED: Final = frozenset({"attached", "attaching", "busy"})
UNATTACHED: Final = "detached"


def _past(moment: datetime) -> datetime:
    ahead = _SIMULATED_AHEAD if SIMULATED_CLOCK in os.environ else _AHEAD
    if not _FIRST_VOLUME <= moment <= datetime.now(UTC) + ahead:
        raise ValueError("no time at which there was a volume")
    return moment


def _plain_number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("no number")  # noqa: TRY004  # pydantic reports a ValueError by its field
    return value


Name = Annotated[str, Field(min_length=1)]
AttachmentState = Literal["attaching", "attached", "detaching", "detached", "busy"]
InstanceId = Annotated[str, Field(pattern="^i-[0-9a-z-]+$")]
VolumeId = Annotated[str, Field(pattern=f"^{VOLUME_ID}$")]
PastTime = Annotated[AwareDatetime, AfterValidator(_past)]
PlainFigure = Annotated[int, BeforeValidator(_plain_number)]
Count = Annotated[int, BeforeValidator(_plain_number), Field(gt=0)]
Rate = Annotated[float, BeforeValidator(_plain_number), Field(gt=0, lt=1e9, allow_inf_nan=False)]


class Tag(AwsAnswer):
    """A tag; its value may be empty but is there."""

    key: Name
    value: str


class Tagged(AwsAnswer):
    """A thing with tags."""

    tags: tuple[Tag, ...] = ()

    @property
    def tag_values(self) -> dict[str, str]:
        """The tags by their keys."""
        return {tag.key: tag.value for tag in self.tags}
