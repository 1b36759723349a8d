"""The probe's messages: what its functions are given and what they answer."""

from typing import Annotated, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from plimsoll.domain.units import HOUR_S
from plimsoll.probe import MOST_HOSTS, MOST_SECONDS
from plimsoll.service.step_messages import Answer, Message, RunId
from plimsoll.service.validation_messages import VolumeName

USUAL_S: Final = HOUR_S
"""For how long hosts are read where nobody says."""


class ProbeInput(BaseModel):
    """What an execution of the probe is begun with: volumes, no more than it may have hosts, and for how long."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    volume_ids: Annotated[tuple[VolumeName, ...], Field(min_length=1, max_length=MOST_HOSTS)]
    seconds: Annotated[int, Field(ge=1, le=MOST_SECONDS)] = USUAL_S


class BeginProbeMessage(Message):
    """An execution of the probe: its name, and what it was begun with."""

    about = "name"

    name: RunId
    given: ProbeInput = Field(validation_alias=AliasChoices("input", "given"))


class ProbeMessage(Message):
    """A probe that was begun."""

    about = "probe"

    probe: RunId


class ProbeState(Answer):
    """How far a probe is: how many hosts still read, the volumes that were seen, and why others were not."""

    probe: RunId
    reading: int
    seen: tuple[str, ...]
    not_seen: tuple[str, ...]
