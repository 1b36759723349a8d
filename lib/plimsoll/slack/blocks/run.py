"""A run on disk as a conversation in Slack, read once and as a stream."""

from collections.abc import Collection, Sequence
from pathlib import Path

from plimsoll.reports.stored import read_run, stream_records
from plimsoll.reports.summary.matched import Only
from plimsoll.slack.blocks.digest import Digest
from plimsoll.slack.blocks.elements import Control
from plimsoll.slack.blocks.message import Conversation
from plimsoll.slack.blocks.report import conversation


def run_conversation(
    folder: Path,
    only: Only | None = None,
    part: str = "",
    *,
    link: str | None = None,
    since: str = "",
    new: Collection[str] = (),
    controls: Sequence[Control] = (),
    threaded: bool = True,
) -> Conversation:
    """The report of a run, of the records that `only` takes where it is given, which `part` names; BadInput where the
    folder is damaged. The rest is as of `conversation`."""
    digest = Digest()
    for record in stream_records(folder):
        if only is None or only(record):
            digest.count(record)
    return conversation(
        digest, read_run(folder), link=link, since=since, new=new, part=part, controls=controls, threaded=threaded
    )
