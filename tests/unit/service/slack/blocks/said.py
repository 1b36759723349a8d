"""What a message says, as a reader sees it: its paragraphs and list items in order, and its buttons."""

from collections.abc import Iterator

from plimsoll_service.slack.actions.registry import CONTROLS
from plimsoll_service.slack.blocks.digest import Digest
from plimsoll_service.slack.blocks.message import Conversation, SlackMessage
from plimsoll_service.slack.blocks.report import conversation
from tests.slack.limits import check_message
from tests.unit.reports.plain_runs import a_run_record


def told_of(records, *, quiet=(), most=10, acting=True, **options) -> Conversation:
    """The conversation about some records of a run, with buttons or not; `run` replaces keys of its run.json."""
    digest = Digest(most, quiet=quiet)
    for record in records:
        digest.count(record)
    run = a_run_record(**options.pop("run", {}))
    return conversation(digest, run, controls=CONTROLS if acting else (), **options)


def messages(told: Conversation) -> list[SlackMessage]:
    """All of its messages, each of which Slack would take."""
    found = [told.main, *(reply.message for reply in told.replies)]
    for message in found:
        check_message(message.payload)
    return found


def lines(message: SlackMessage) -> list[str]:
    return [line for block in message.blocks for line in _lines(block)]


def said(message: SlackMessage) -> str:
    return "\n".join(lines(message))


def told(records, **options) -> str:
    """What the main message says."""
    return said(messages(told_of(records, **options))[0])


def pressed(message: SlackMessage) -> dict[str, list[str]]:
    """The actions of the buttons and of the menu's lines, by the id of their block."""
    return {
        block["block_id"]: [action for one in block["elements"] for action in _actions(one)]
        for block in message.blocks
        if block["type"] == "actions" and "block_id" in block
    }


def _actions(element) -> list[str]:
    if element["type"] == "overflow":
        return [option["value"] for option in element["options"]]
    return [element["action_id"]]


def _lines(block) -> Iterator[str]:
    match block["type"]:
        case "header":
            yield block["text"]["text"]
        case "context":
            yield from (one["text"] for one in block["elements"])
        case "rich_text":
            for element in block["elements"]:
                within = element["elements"] if element["type"] == "rich_text_list" else [element]
                yield from ("".join(one["text"] for one in section["elements"]) for section in within)
