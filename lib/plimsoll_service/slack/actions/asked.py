"""A request to Plimsoll in Slack, as the front hands it to the worker, and the dialogs that complete it.

Dialogs are Slack's modal views, in plain text where no name or reason can be a link or a mention.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from slack_sdk.models.blocks import Block, InputBlock, PlainTextInputElement, SectionBlock

from plimsoll.clouds.registry import volume_pattern
from plimsoll_service.slack.blocks.elements import plain_text

RequestedVolume = Annotated[str, StringConstraints(pattern=volume_pattern())]
"""A volume's id, or account/region/id, which need not be searched for."""

PlanName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@+=-]{0,99}$")]
"""A plan of changes, by its id."""

VolumeWord = Annotated[str, StringConstraints(min_length=1, max_length=400)]
"""A volume as people call it: by its id, account/region/id, its Name tag, or how its id begins."""

LONGEST_REASON: Final = 300
ReasonText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_REASON)]


class SlackRequest(BaseModel):
    """One request for an action, and where its answer goes.

    `do` is the action's name, `entered` what its dialog asked for. `plan` is the plan that a button or a word is about,
    and `digest` what the plan was when the button was shown. `id` names the request: a repeated request has the
    same id, and so has the same button of the same message, whoever presses it, where doing it twice would be wrong.
    `user`, `team` and `enterprise` (the organization that the team is part of) are Slack's ids. The answer goes to
    `thread` of `channel` (the first message's `ts`), to the open view `view`, or else to the asker alone by
    `response_url`, which is a secret for half an hour and is in no representation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    team: str
    enterprise: str | None = None
    user: str
    do: str
    volume: VolumeWord | None = None
    plan: PlanName | None = None
    digest: str | None = None
    entered: Mapping[str, str] = Field(default_factory=dict)
    channel: str | None = None
    thread: str | None = None
    view: str | None = None
    response_url: str | None = Field(default=None, repr=False)

    @property
    def from_thread(self) -> tuple[str, str] | None:
        """The channel and thread of the request. None if it came from no thread."""
        return None if self.channel is None or self.thread is None else (self.channel, self.thread)


class Origin(BaseModel):
    """The volume of a dialog, and where its button was pressed; Slack sends it back with the dialog."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    volume: RequestedVolume
    channel: str | None = None
    message: str | None = None
    thread: str | None = None
    response_url: str | None = None

    @property
    def volume_id(self) -> str:
        """The volume's own id, without its account and region."""
        return self.volume.rpartition("/")[2]

    @property
    def place(self) -> dict[str, Any]:
        """The volume and where the answer goes, as a request has them."""
        return self.model_dump(exclude={"message"})


def asked_key(execution: str) -> str:
    """The store's key for who asked in Slack for an execution, and where the answer goes."""
    return f"slack/asked/{execution}.json"


def dialog(
    title: str, text: str, inputs: Sequence[Block], *, origin: Origin, action: str, submit: str
) -> dict[str, Any]:
    """A dialog that asks for the inputs of an action; `submit` is on its button."""
    blocks = [SectionBlock(text=plain_text(text)), *inputs]
    return {
        **modal(title, [block.to_dict() for block in blocks], close="Cancel"),
        "submit": plain_text(submit).to_dict(),
        "callback_id": action,
        "private_metadata": origin.model_dump_json(exclude_none=True),
    }


def reason_input(example: str) -> Block:
    """The input for a reason, which may stay empty."""
    text = PlainTextInputElement(action_id="reason", max_length=LONGEST_REASON, placeholder=plain_text(example))
    return InputBlock(block_id="reason", label=plain_text("Why? Others see it."), element=text, optional=True)


def notice(text: str, title: str = "Plimsoll") -> dict[str, Any]:
    """A view with some sentences, up to 3,000 characters, and nothing to enter."""
    return modal(title, [SectionBlock(text=plain_text(text)).to_dict()])


def modal(title: str, blocks: Iterable[Mapping[str, Any]], close: str = "Close") -> dict[str, Any]:
    """A view that shows blocks; `title` has at most 24 characters."""
    return {
        "type": "modal",
        "title": plain_text(title).to_dict(),
        "close": plain_text(close).to_dict(),
        "blocks": [dict(block) for block in blocks],
    }
