"""What makes the page work in a browser: style, scripts and their hashes, and what the scripts are told."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_json

from plimsoll.reports.charts.theme import WIDTH_PX
from plimsoll.reports.html.assets import early, hash_of, script, style
from plimsoll.reports.html.blocks import packed
from plimsoll.reports.html.pictures import drawing_script, specs
from plimsoll.reports.summary.step_words import StepWords
from plimsoll.reports.wording import GRADE_WORDS

COLUMNS: Final = (
    ("volume", "volume", ""),
    ("account", "where", ""),
    ("from", "from", ""),
    ("to", "to", ""),
    ("saved", "saves a month", "number"),
    ("drop_in", "drop-in saves", "number"),
    ("grade", "evidence", ""),
    ("step", "step", ""),
)
"""The table's columns that sort: key, head and kind."""


def machinery(steps: Mapping[str, StepWords]) -> dict[str, Any]:
    """The parts of the page that are the same for every run.

    The content security policy allows these scripts by their hashes and nothing else: what draws the pictures
    interprets their expressions instead of evaluating them, so that no script is ever made from a text.
    """
    told = {
        "steps": {step: {"name": words.name, "why": words.why} for step, words in steps.items()},
        "grades": GRADE_WORDS,
        "specs": specs(),
        "width": WIDTH_PX,
        "falling": [key for key, _, kind in COLUMNS if kind],
    }
    return {
        "style": style(),
        "early": early(),
        "script": script(),
        "drawer": packed(drawing_script().encode()),
        "hashes": [hash_of(early()), hash_of(script()), hash_of(drawing_script())],
        "columns": COLUMNS,
        "settings": packed(to_json(told)),
    }
