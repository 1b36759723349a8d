"""What somebody asks of Plimsoll in Slack: who, where, and what; as the function that answers Slack hands it on."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from plimsoll.clouds.registry import volume_pattern

VolumeName = Annotated[str, StringConstraints(pattern=volume_pattern())]
"""A volume's id, or account/region/id, which need not be searched for."""

Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)]

SNOOZE_DAYS = (7, 30, 90)
"""For how many days a recommendation may be snoozed."""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Explain(_Asked):
    """The screen of `plimsoll explain`."""

    do: Literal["explain"] = "explain"
    volume: VolumeName


class Validate(_Asked):
    """A validation of what is recommended of a volume."""

    do: Literal["validate"] = "validate"
    volume: VolumeName


class Snooze(_Asked):
    """Silence about a volume's recommendation for some days."""

    do: Literal["snooze"] = "snooze"
    volume: VolumeName
    days: Literal[7, 30, 90]
    reason: Reason = ""


class Done(_Asked):
    """Word that a volume was changed as recommended: the next run looks."""

    do: Literal["done"] = "done"
    volume: VolumeName


class Exclude(_Asked):
    """No more audits of a volume."""

    do: Literal["exclude"] = "exclude"
    volume: VolumeName
    reason: Reason = ""


class Include(_Asked):
    """Audits of a volume again that was excluded."""

    do: Literal["include"] = "include"
    volume: VolumeName


class Audit(_Asked):
    """An audit of the whole scope, now."""

    do: Literal["audit"] = "audit"


class Savings(_Asked):
    """What the last run found, in a few lines."""

    do: Literal["savings"] = "savings"


Wish = Annotated[Explain | Validate | Snooze | Done | Exclude | Include | Audit | Savings, Field(discriminator="do")]


class Asked(_Asked):
    """What somebody wishes, and where the answer goes.

    `id` is one request's own: the same request twice has the same, and so has the same button of the same message
    pressed twice by whomever where doing it twice would be wrong. `user`, `team` and the organization of workspaces
    that it is part of, `enterprise`, are Slack's ids. The answer goes into `thread` of `channel` (by its first
    message's `ts`), into the open view `view`, or, where there is neither, to the asker alone by `response_url`, which
    is a secret for half an hour and in no representation.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    team: str
    enterprise: str | None = None
    user: str
    wish: Wish
    channel: str | None = None
    thread: str | None = None
    view: str | None = None
    response_url: str | None = Field(default=None, repr=False)
