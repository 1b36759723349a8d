"""What somebody asks of Plimsoll in Slack: who, where and what, as the front hands it to the worker."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from plimsoll.clouds.registry import volume_pattern

VolumeName = Annotated[str, StringConstraints(pattern=volume_pattern())]
"""A volume's id, or account/region/id, which need not be searched for."""

LONGEST_REASON = 300
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_REASON)]


class Asked(BaseModel):
    """One request for an action, and where its answer goes.

    `do` is the action's name, `entered` what its dialog asked for. `id` names the request: a repeated request has the
    same id, and so has the same button of the same message, whoever presses it, where doing it twice would be wrong.
    `user`, `team` and `enterprise` (the organization that the team is part of) are Slack's ids. The answer goes to
    `thread` of `channel` (the first message's `ts`), to the open view `view`, or else to the asker alone by
    `response_url`, which is a secret for half an hour and is in no representation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    team: str
    enterprise: str | None = None
    user: str
    do: str
    volume: VolumeName | None = None
    entered: Mapping[str, str] = Field(default_factory=dict)
    channel: str | None = None
    thread: str | None = None
    view: str | None = None
    response_url: str | None = Field(default=None, repr=False)
