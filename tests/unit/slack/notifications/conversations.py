"""Conversations to post: a report and its replies, short."""

from dataclasses import dataclass, field

from plimsoll.slack.blocks.message import Conversation, Message, Reply
from plimsoll.slack.notifications.posting import Progress


def a_message(text: str = "12 volumes can save $340.10 a month") -> Message:
    return Message(text=text, blocks=({"type": "section", "text": {"type": "plain_text", "text": text}},))


def a_conversation(*accounts: str) -> Conversation:
    return Conversation(
        main=a_message(), replies=tuple(Reply(key=account, message=a_message(account)) for account in accounts)
    )


@dataclass(slots=True)
class KeptInMemory:
    """A ledger that remembers every note."""

    progress: Progress = field(default_factory=Progress)
    notes: list[Progress] = field(default_factory=list)

    def load(self) -> Progress:
        return self.progress

    def keep(self, progress: Progress) -> None:
        self.progress = progress
        self.notes.append(progress)
