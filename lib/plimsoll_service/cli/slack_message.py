"""The message to Slack about a run: its words, its pictures, and what is new since an earlier run."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.api.runs import run_folder
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.run_reports import Report
from plimsoll.files import write_lines
from plimsoll.model.errors import PlimsollError
from plimsoll.model.kinds import ASKING
from plimsoll.reports.diff.comparison import Difference, compare_runs
from plimsoll.reports.diff.render import diff_headline
from plimsoll.reports.diff.sql import DiffGroup
from plimsoll.reports.run_reader import Only, read_run
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings
from plimsoll_service.cli.options import PostOptions
from plimsoll_service.slack.actions.registry import CONTROLS
from plimsoll_service.slack.blocks.message import Conversation
from plimsoll_service.slack.blocks.pictures import Draft, run_drafts
from plimsoll_service.slack.blocks.report import run_conversation
from plimsoll_service.slack.preview import preview

_RECOMMENDED: Final = (DiffGroup.NEW, DiffGroup.FIRST_READ, DiffGroup.CHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostContent:
    """The words about a run, and the pictures that it has, or why it has none."""

    conversation: Conversation
    pictures: tuple[Draft, ...]
    no_pictures: str = ""


def message_lines(report: Report) -> Iterator[str]:
    """The message to a channel, as it is sent to Slack."""
    conversation = run_conversation(report.folder, *report.part(), controls=CONTROLS, weight=report.weight)
    yield json.dumps(conversation.payload, ensure_ascii=False, indent=2) + "\n"


def write_preview(report: Report, place: Path) -> list[Path]:
    """Writes a page that shows the message with its pictures as Slack does, and gives its file."""
    only, about = report.part()
    page = preview(
        run_conversation(report.folder, only, about, controls=CONTROLS, weight=report.weight),
        pictures={draft.title: draft.png() for draft in _draw(report.folder, only)},
        sent=read_run(report.folder).as_of,
    )
    write_lines([page], place, "utf-8")
    return [place]


def read_content(folder: Path, options: PostOptions, *, introduce: bool = True) -> PostContent:
    """The content of a post; `introduce`: it is the first one in its channel."""
    only, part = Report(folder=folder, where=options.where).part()
    since, new = ("", frozenset[str]()) if options.since is None else _news_since(run_folder(options.since), folder)
    conversation = run_conversation(
        folder,
        only,
        part,
        since=since,
        new=new,
        controls=CONTROLS if options.buttons else (),
        threaded=not options.webhook,
        introduce=introduce,
    )
    pictures, no_pictures = _drafts(folder, only) if options.pictures and not options.webhook else ((), "")
    return PostContent(conversation=conversation, pictures=pictures, no_pictures=no_pictures)


def _drafts(folder: Path, only: Only | None) -> tuple[tuple[Draft, ...], str]:
    """The pictures that there are, or why there is none: the report stands without."""
    try:
        return _draw(folder, only), ""
    except PlimsollError as error:
        return (), f"no picture is shown: {error}"


def _draw(folder: Path, only: Only | None) -> tuple[Draft, ...]:
    return run_drafts(folder, envelope_library(Settings.from_environment().measured_dir).envelopes, only)


def _news_since(before: Path, after: Path) -> tuple[str, frozenset[str]]:
    """A sentence about what was saved since an earlier run, and the volumes that only the later one recommends for."""
    with compare_runs(before, after) as diff:
        listed = (difference for group in _RECOMMENDED for difference in diff.list_volumes(group))
        news = {
            f"{difference.account}/{difference.region}/{difference.volume_id}": difference
            for difference in listed
            if _is_new(difference)
        }
        ruled = {
            name for name, difference in news.items() if diff.rules[0] != diff.rules[1] and _is_as_it_was(difference)
        }
        new = frozenset(news.keys() - ruled)
        parts = [f"{count_of(len(new), 'recommendation')} {'is' if len(new) == 1 else 'are'} new"] if new else []
        if ruled:
            parts.append(f"{count_of(len(ruled), 'recommendation')} came because the rule has changed")
        return f"Compared with the run of {diff.before.as_of:%Y-%m-%d}: {'; '.join([*parts, diff_headline(diff)])}", new


def _is_new(difference: Difference) -> bool:
    was = difference.before is not None and difference.before["action"] in ASKING
    return not was and difference.after is not None and difference.after["action"] in ASKING


def _is_as_it_was(difference: Difference) -> bool:
    """True if the volume was there before, in the same configuration."""
    return (
        difference.before is not None
        and difference.after is not None
        and difference.before["current"] == difference.after["current"]
    )
