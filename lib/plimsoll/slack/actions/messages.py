"""What the function is told that acts: what somebody asked, as the one that answers Slack hands it on."""

from pydantic import ConfigDict

from plimsoll.service.messages import Message
from plimsoll.slack.actions.asked import Asked


class AskedMessage(Asked, Message):
    """What somebody asked; its log lines have its id in common, and errors do not repeat it: an address is secret."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @property
    def topic(self) -> str:
        """The request."""
        return self.id
