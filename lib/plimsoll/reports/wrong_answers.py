"""Wrong answers: what a cloud sent that could not be used, kept beside the run for who looks into it."""

import json
from pathlib import Path
from typing import Final

from plimsoll.domain.errors import BadAnswer
from plimsoll.outcomes import FailedVolume, Outcome
from plimsoll.ports import FailedTarget

WRONG_ANSWERS: Final = "wrong-answers.jsonl"
MOST_BYTES: Final = 5_000_000
"""How much of them a run keeps: they are examples, and many are alike."""


def keep_wrong_answer(folder: Path, outcome: Outcome) -> None:
    """Keeps the answer that is the reason of an outcome as a line: what it costs, why, and the answer as text.

    It is shortened and without secrets already. Most outcomes have none.
    """
    if isinstance(outcome, FailedVolume):
        name, reason, raw = f"{outcome.target}/{outcome.volume_id}", outcome.reason, outcome.raw
    elif isinstance(outcome, FailedTarget) and isinstance(outcome.error, BadAnswer):
        name, reason, raw = outcome.name, str(outcome.error), outcome.error.raw
    else:
        return
    path = folder / WRONG_ANSWERS
    if not raw or (path.exists() and path.stat().st_size > MOST_BYTES):
        return
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(json.dumps({"of": name, "reason": reason, "answer": raw}, ensure_ascii=False) + "\n")
