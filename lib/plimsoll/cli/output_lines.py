"""The lines of JSON that an audit prints for programs: answers and the run, or a plan."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from plimsoll.reports.run_reader import read_run, stream_records, stream_unanswered

RECOMMENDATION: Final = "recommendation"
UNANSWERED_LINE: Final = "unanswered"
WHOLE_RUN: Final = "run"
PLAN: Final = "plan"
"""The `kind` of a line: its subject."""


def answer_lines(folder: Path) -> Iterator[str]:
    """The lines of a run: each recommendation, each volume without one, and the run itself.

    They are as in recommendations.json, unanswered.jsonl and run.json. Errors are as of `stream_records`.
    """
    for record in stream_records(folder):
        yield _line_of(RECOMMENDATION, record.model_dump_json())
    for unanswered in stream_unanswered(folder):
        yield _line_of(UNANSWERED_LINE, unanswered.model_dump_json())
    yield _line_of(WHOLE_RUN, json.dumps(read_run(folder).plain, ensure_ascii=False))


def plan_line(plan: Mapping[str, Any]) -> str:
    """The line of a plan."""
    return _line_of(PLAN, json.dumps(plan))


def _line_of(kind: str, fields: str) -> str:
    """A JSON object, which has a key at least, as a line that says first what it is of."""
    return f'{{"kind":"{kind}",{fields.lstrip()[1:]}\n'
