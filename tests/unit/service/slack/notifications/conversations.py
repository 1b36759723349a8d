"""Conversations to post: a report and its replies, short."""

from dataclasses import dataclass, field

from plimsoll_service.slack.blocks.message import Conversation, Reply, SlackMessage
from plimsoll_service.slack.notifications.posting import PostingProgress


def a_message(text: str = "12 volumes can save $340.10 a month") -> SlackMessage:
    return SlackMessage(text=text, blocks=({"type": "section", "text": {"type": "plain_text", "text": text}},))


def a_conversation(*accounts: str) -> Conversation:
    return Conversation(
        main=a_message(), replies=tuple(Reply(key=account, message=a_message(account)) for account in accounts)
    )


@dataclass(slots=True)
class KeptInMemory:
    """A ledger that remembers every note."""

    progress: PostingProgress = field(default_factory=PostingProgress)
    notes: list[PostingProgress] = field(default_factory=list)

    def load(self) -> PostingProgress:
        return self.progress

    def keep(self, progress: PostingProgress) -> None:
        self.progress = progress
        self.notes.append(progress)
