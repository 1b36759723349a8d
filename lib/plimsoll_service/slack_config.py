"""The configuration of Slack: its workspaces, the channels of reports, and who may act."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from plimsoll.clouds.aws.names import ACCOUNT_ID
from plimsoll.clouds.registry import account_pattern

Channel = Annotated[str, StringConstraints(pattern=r"^[CG][A-Z0-9]{5,20}$")]
Team = Annotated[str, StringConstraints(pattern=r"^[TE][A-Z0-9]{5,20}$")]
MemberId = Annotated[str, StringConstraints(pattern=r"^[UW][A-Z0-9]{4,20}$")]
UserGroup = Annotated[str, StringConstraints(pattern=r"^S[A-Z0-9]{5,20}$")]
AccountId = Annotated[str, StringConstraints(pattern=rf"^{ACCOUNT_ID}$")]
AccountOrProject = Annotated[str, StringConstraints(pattern=account_pattern())]


class Route(BaseModel):
    """The volumes that a channel is told of: those with one of the accounts, one of the owners, or one of the tags.

    An account may be a project of Google Cloud. An owner is its name as reports give it, with `*` for any part; a tag
    without a value is one with any. A tag that the policy does not show matches nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    channel: Channel
    accounts: tuple[AccountOrProject, ...] = ()
    owners: tuple[str, ...] = ()
    tags: Mapping[str, str | None] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_volumes(self) -> Self:
        if not (self.accounts or self.owners or self.tags):
            raise ValueError(f"the route to {self.channel} selects no volumes: give it accounts, owners or tags")
        return self


class SlackConfig(BaseModel):
    """The workspaces that may ask, the channel of all reports, the channels of parts, and who may act."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    teams: tuple[Team, ...] = Field(min_length=1, description="Workspaces whose requests are taken, by their ids.")
    channel: Channel = Field(description="The id of the channel that gets the whole report of every run.")
    routes: tuple[Route, ...] = Field(
        default=(), max_length=50, description="Channels that get a part of it: by accounts, owners or tags."
    )
    user_groups: tuple[UserGroup, ...] = Field(
        default=(), description="User groups whose members may act. Default: nobody may, and messages have no buttons."
    )
    approvers: Mapping[MemberId, str] = Field(
        default_factory=dict,
        description="Members who may approve plans of changes: each one's id, and their name among the approvers of "
        "change_rules.",
    )
