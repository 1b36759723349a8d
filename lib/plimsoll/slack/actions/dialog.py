"""Dialogs: Slack's modal views, in plain text where no name or reason can be a link or a mention."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from slack_sdk.models.blocks import Block, InputBlock, PlainTextInputElement, PlainTextObject, SectionBlock
from slack_sdk.models.views import View

from plimsoll.slack.actions.asked import LONGEST_REASON, VolumeName

REASON: Final = "reason"


class Origin(BaseModel):
    """What a dialog is about, and where its button was pressed; Slack sends it back with the dialog."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    volume: VolumeName
    channel: str | None = None
    message: str | None = None
    thread: str | None = None
    response_url: str | None = None

    @property
    def volume_id(self) -> str:
        """The volume's own id, without its account and region."""
        return self.volume.rpartition("/")[2]


def dialog(
    title: str, text: str, inputs: Sequence[Block], *, origin: Origin, action: str, submit: str
) -> dict[str, Any]:
    """A dialog that asks for the inputs of an action; `submit` is on its button."""
    return _view(
        title,
        [SectionBlock(text=plain_text(text)), *inputs],
        close=plain_text("Cancel"),
        submit=plain_text(submit),
        callback_id=action,
        private_metadata=origin.model_dump_json(exclude_none=True),
    )


def reason_input(example: str) -> Block:
    """The input for a reason, which may stay empty."""
    text = PlainTextInputElement(action_id=REASON, max_length=LONGEST_REASON, placeholder=plain_text(example))
    return InputBlock(block_id=REASON, label=plain_text("Why? Others see it."), element=text, optional=True)


def notice(text: str, title: str = "Plimsoll") -> dict[str, Any]:
    """A view with some sentences, up to 3,000 characters, and nothing to enter."""
    return _view(title, [SectionBlock(text=plain_text(text))], close=plain_text("Close"))


def modal(title: str, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A view that shows blocks; `title` has at most 24 characters."""
    return {
        "type": "modal",
        "title": plain_text(title).to_dict(),
        "close": plain_text("Close").to_dict(),
        "blocks": [dict(block) for block in blocks],
    }


def plain_text(text: str) -> PlainTextObject:
    """A text without markup."""
    return PlainTextObject(text=text, emoji=False)


def _view(title: str, blocks: Sequence[Block], **more: Any) -> dict[str, Any]:
    return dict(View(type="modal", title=plain_text(title), blocks=list(blocks), **more).to_dict())
