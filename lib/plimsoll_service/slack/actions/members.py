"""Members: who may act in Slack, by the user groups that are allowed to."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from slack_sdk import WebClient

from plimsoll.model.errors import CloudError
from plimsoll_service.slack.client import slack_errors

BELIEVED: Final = timedelta(minutes=5)
"""The time for which the members of a group are believed before Slack is asked again."""


@dataclass(frozen=True, slots=True)
class Members:
    """The members of user groups, each group as it was within the last minutes."""

    _known: dict[str, tuple[datetime, frozenset[str]]] = field(default_factory=dict)

    def may_act(self, user: str, groups: Iterable[str], slack: WebClient, now: datetime) -> bool:
        """True if somebody is in one of the groups. Raises CloudError if Slack does not list one, unless another has
        them."""
        trouble: CloudError | None = None
        for group in groups:
            try:
                if user in self._members_of(group, slack, now):
                    return True
            except CloudError as error:
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        return False

    def _members_of(self, group: str, slack: WebClient, now: datetime) -> frozenset[str]:
        read, members = self._known.get(group, (None, frozenset[str]()))
        if read is None or now - read >= BELIEVED:
            with slack_errors(f"list the members of the user group {group}"):
                members = frozenset(slack.usergroups_users_list(usergroup=group)["users"])
            self._known[group] = now, members
        return members
