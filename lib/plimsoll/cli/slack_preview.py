"""`plimsoll report --format slack-preview`: what the report of a run looks like in Slack, and nothing is sent."""

from pathlib import Path

from plimsoll.bootstrap import envelope_library
from plimsoll.reports.data.selection import Selection
from plimsoll.reports.html.about import audited_at
from plimsoll.reports.slack.digest import Digest
from plimsoll.reports.slack.pictures import Pictures
from plimsoll.reports.slack.preview import preview
from plimsoll.reports.slack.weekly import conversation
from plimsoll.reports.stored import read_run
from plimsoll.reports.summary.matched import matched_records
from plimsoll.settings import Settings
from plimsoll.writing import write_lines


def write_preview(folder: Path, place: Path, selection: Selection | None) -> None:
    """Writes the preview of a run's report, or of a part of it, whole or not at all; errors are as of the report."""
    run, digest, pictures = read_run(folder), Digest(), Pictures()
    for volume in matched_records(folder, selection.has if selection else None):
        digest.count(volume[0])
        pictures.count(volume)
    said = conversation(digest, run, part=selection.told if selection else "")
    envelopes = envelope_library(Settings.of_environment().measured_dir).envelopes
    page = preview(said, pictures=dict(pictures.drawn(envelopes)), sent=audited_at(run))
    write_lines([page], place, "utf-8")
