"""A run's answers as lines of JSON, for the next program: one for each volume, and at last one for the run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from plimsoll.reports.run_reader import read_run, stream_records, stream_unanswered

RECOMMENDATION: Final = "recommendation"
UNANSWERED: Final = "unanswered"
WHOLE_RUN: Final = "run"
PLAN: Final = "plan"
"""What a line is of, its `kind`."""


def answer_lines(folder: Path) -> Iterator[str]:
    """A line for each recommendation (as in recommendations.json), each volume without one (as in unanswered.jsonl),
    and the run (as in run.json). Errors are as of `stream_records`."""
    for record in stream_records(folder):
        yield line_of(RECOMMENDATION, record.model_dump_json())
    for one in stream_unanswered(folder):
        yield line_of(UNANSWERED, one.model_dump_json())
    yield line_of(WHOLE_RUN, json.dumps(read_run(folder), ensure_ascii=False))


def line_of(kind: str, fields: str) -> str:
    """A JSON object, which has a key at least, as a line that says first what it is of."""
    return f'{{"kind":"{kind}",{fields.lstrip()[1:]}\n'
