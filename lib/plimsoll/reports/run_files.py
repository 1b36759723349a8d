"""The files of a run's folder, by what they hold."""

from pathlib import Path
from typing import Final

from plimsoll.files import CHECKSUMS, is_as_written, noted_checksums
from plimsoll.model.errors import BadInput

RECOMMENDATIONS: Final = "recommendations.json"
TABLE: Final = "recommendations.csv"
DEMAND: Final = "demand.jsonl"
PARQUET_FILES: Final = ("recommendations.parquet", "demand.parquet")
UNANSWERED: Final = "unanswered.jsonl"
RUN: Final = "run.json"
PAGE: Final = "report.html"
MARKDOWN: Final = "report.md"
PROMETHEUS_FILE: Final = "plimsoll.prom"
SLACK_PREVIEW: Final = "slack-preview.html"
FOCUS: Final = "focus-recommendations.csv"
TICKETS: Final = "tickets.csv"
STATES_FILE: Final = "states.json"
STATES_TABLE: Final = "states.csv"


def check_export(path: Path) -> None:
    """BadInput if a file in a run's folder is not what a report wrote there; of files elsewhere nothing is known."""
    if (path.parent / RUN).exists() and path.name in (noted_checksums(path.parent) or {}) and not is_as_written(path):
        raise BadInput(
            f"{path} is damaged, or {CHECKSUMS} beside it is: its checksum does not fit. Write it anew with "
            "`plimsoll report --format parquet`."
        )
