"""News of changes: what a pass of a plan brought is posted once to each channel of the plan's volumes."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from pydantic import Field
from slack_sdk import WebClient

from plimsoll.auditing.audit import no_stop
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import NAME_TAG
from plimsoll.reports.record import OwnerRecord
from plimsoll.reports.wording import count_of
from plimsoll_change.ledger import ChangeLedger
from plimsoll_change.plan import PlannedLine
from plimsoll_service.change_plans import read_halts
from plimsoll_service.events import ChangeNews, ChangesProgressed
from plimsoll_service.service import Service
from plimsoll_service.slack.actions.plans import offer_words
from plimsoll_service.slack.blocks.elements import SENTENCE_CHARACTERS, TextPart, bold, bullets, line, note, paragraph
from plimsoll_service.slack.blocks.message import Conversation, SlackMessage
from plimsoll_service.slack.notifications.channels import route_volume
from plimsoll_service.slack.notifications.posting import POST_CLAIM_TIME, Posting, StoreLedger, post_everywhere
from plimsoll_service.slack_config import SlackConfig
from plimsoll_service.step_messages import StepAnswer, StepMessage

_MOST_SHOWN: Final = 8
_TITLE_CHARACTERS: Final = 120
_BACK: Final = {"going_back": "on the way back", "restored": "back", "not_restored": "not back"}


class ChangesEvent(StepMessage):
    """The event `ChangesProgressed` of the service's own bus."""

    about = "detail.id"

    detail: ChangesProgressed


class ChangesPosted(StepAnswer):
    """The channels that have the news. `busy`: another function is posting them now, and this one posted nothing."""

    id: str
    channels: list[str] = Field(default_factory=list)
    busy: bool = False


def post_news(
    service: Service,
    event: ChangesProgressed,
    client: WebClient,
    *,
    holder: str,
    stop: Callable[[], bool] = no_stop,
) -> ChangesPosted:
    """Posts an event to every channel of its plan's volumes; where it was posted before, it is not posted again.

    `holder` names this attempt. Raises as `post_everywhere`, and BadInput if the service has no Slack, or the plan is
    gone.
    """
    claim, now, slack = f"slack-changes/{event.id}", service.clock.now(), service.config.slack
    if slack is None:
        raise BadInput("Slack is not configured: give slack.teams and slack.channel, and deploy the service again.")
    if not service.claims.claim(claim, holder, now + POST_CLAIM_TIME, now):
        return ChangesPosted(id=event.id, busy=True)
    try:
        plan_ledger = read_halts(service.change_facts, event.plan)
        message = describe_news(event, plan_ledger, now, with_buttons=bool(slack.user_groups))

        def post(channel: str) -> tuple[str, ...]:
            posting = Posting(
                channel=channel,
                client=client,
                ledger=StoreLedger(store=service.store, run_id=event.id, channel=channel),
                subject=f"the news {event.id}",
                remedy=f"see /plimsoll changes {event.plan}",
                pause=service.pause,
                stop=stop,
            )
            return posting.post(Conversation(main=message)).troubles

        lines = plan_ledger.plan.lines
        channels = dict.fromkeys(channel for each in lines for channel in _route_line(slack, each))
        return ChangesPosted(id=event.id, channels=list(post_everywhere(channels, post, f"the news {event.id}")))
    finally:
        service.claims.release(claim, holder)


def _route_line(slack: SlackConfig, planned: PlannedLine) -> list[str]:
    """The channels that a line's volume is reported to."""
    kind, _, name = planned.owner.partition(" ")
    tags = {**planned.tags, NAME_TAG: planned.name} if planned.name else planned.tags
    return route_volume(slack, planned.target.account, OwnerRecord(kind=kind, name=name or None), tags)


def describe_news(event: ChangesProgressed, ledger: ChangeLedger, now: datetime, *, with_buttons: bool) -> SlackMessage:
    """The message of an event, with the buttons that count for something now."""
    counts, shown = event.volumes, event.news[:_MOST_SHOWN]
    saves = f", which saves ${event.saved_usd_month:,.0f} a month" if counts["changed"] else ""
    volumes = f"{counts['changed']:,} of {count_of(counts['planned'], 'volume')} changed{saves}"
    back = [f"{counts[name]:,} {words}" for name, words in _BACK.items() if counts[name]]
    blocks = [
        paragraph(bold(f"Plan {event.plan}: "), f"{'; '.join([volumes, *back])}."),
        *bullets(_item_parts(news) for news in shown),
    ]
    if event.news_total > len(shown):
        blocks.append(note(f"And {event.news_total - len(shown):,} more: the ledger of the plan has all of them."))
    text = f"Plan {event.plan}: {shown[0].title}" if shown else f"Plan {event.plan}"
    return SlackMessage.compose(text, [*blocks, *(offer_words(ledger, now) if with_buttons else ())])


def _item_parts(news: ChangeNews) -> list[TextPart]:
    figures = [
        *([] if news.slower_pct is None else [f"{news.slower_pct:+.0f} % latency"]),
        *([f"stopped for {news.stopped_minutes:.0f} minutes"] if news.stopped_minutes else []),
        *([f"{news.hours_watched:,} hours watched"] if news.hours_watched else []),
    ]
    sentences = [line(news.text, SENTENCE_CHARACTERS), f"({', '.join(figures)})" if figures else ""]
    text = " ".join(filter(None, [*sentences, line(news.todo, SENTENCE_CHARACTERS)]))
    return [bold(f"{line(news.title, _TITLE_CHARACTERS)}{': ' if text else '.'}"), text]
