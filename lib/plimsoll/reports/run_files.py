"""The files of a run's folder, by what they hold."""

from typing import Final

RECOMMENDATIONS: Final = "recommendations.json"
TABLE: Final = "recommendations.csv"
DEMAND: Final = "demand.jsonl"
UNANSWERED: Final = "unanswered.jsonl"
RUN: Final = "run.json"
CHECKSUMS: Final = "checksums.json"
PAGE: Final = "report.html"
MARKDOWN: Final = "report.md"
SLACK_PREVIEW: Final = "slack-preview.html"
