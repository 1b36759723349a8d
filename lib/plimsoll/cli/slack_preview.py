"""`plimsoll report --format slack-preview`: what the report of a run looks like in Slack, and nothing is sent."""

from pathlib import Path

from plimsoll.bootstrap import envelope_library
from plimsoll.reports.data.database import Selection
from plimsoll.reports.run_reader import audited_at, read_run
from plimsoll.settings import Settings
from plimsoll.slack.actions.registry import CONTROLS
from plimsoll.slack.blocks.pictures import run_drafts
from plimsoll.slack.blocks.report import run_conversation
from plimsoll.slack.preview import preview
from plimsoll.writing import write_lines


def write_preview(folder: Path, place: Path, selection: Selection | None) -> None:
    """Writes the preview of a run's report, or of a part of it, whole or not at all.

    BadInput where the folder holds no run or a damaged one, or the file cannot be written.
    """
    only, told = (selection.has, selection.told) if selection else (None, "")
    envelopes = envelope_library(Settings.of_environment().measured_dir).envelopes
    page = preview(
        run_conversation(folder, only, told, controls=CONTROLS),
        pictures={draft.title: draft.png() for draft in run_drafts(folder, envelopes, only)},
        sent=audited_at(read_run(folder)),
    )
    write_lines([page], place, "utf-8")
