"""`report.html`: a run as one file that opens offline in any browser, each volume's drill-down in it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from plimsoll.domain.envelope import Envelope
from plimsoll.policy_file import parse_policy
from plimsoll.reports.html.about import about
from plimsoll.reports.html.assets import early, hash_of, script, style
from plimsoll.reports.html.blocks import blocks, packed
from plimsoll.reports.html.first import todos
from plimsoll.reports.html.fleet import count_fleet
from plimsoll.reports.html.headline import figures, headline, incomplete, resume_command
from plimsoll.reports.html.matched import Only, chosen_records, matched_records
from plimsoll.reports.html.pictures import WIDTH_PX, drawing_script, pictures_of, specs
from plimsoll.reports.html.savings import breakdowns
from plimsoll.reports.html.unread import left_out, unread
from plimsoll.reports.html.wording import (
    GRADE_WORDS,
    change_words,
    count_of,
    cut,
    outcome_text,
    plight,
    short_name,
    usd,
)
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.step_words import judged_by, step_words
from plimsoll.reports.steps import Step
from plimsoll.reports.stored import read_run

REPORT: Final = "report.html"

COLUMNS: Final = (
    ("volume", "volume", ""),
    ("account", "where", ""),
    ("from", "from", ""),
    ("to", "to", ""),
    ("saved", "saves a month", "number"),
    ("parity", "of it at parity", "number"),
    ("grade", "evidence", ""),
    ("step", "step", ""),
)
"""The table's columns that sort: key, head and kind."""


def write_html(
    folder: Path,
    out: Path,
    *,
    envelopes: Mapping[str, Envelope],
    console_link: Callable[[RecommendationRecord], str],
    only: Only | None = None,
    told: str = "",
) -> None:
    """Writes the report of a run's folder, whole or not at all; memory does not grow with the fleet.

    `envelopes` are drawn in the pictures, by name. `only` restricts the report to some volumes, and `told` says to
    which. BadInput where the folder holds no run or a damaged one.
    """
    written = out.with_name(f"{out.name}.new")
    try:
        with written.open("w", encoding="utf-8", newline="\n") as file:
            for part in (
                _environment()
                .get_template("page.html.j2")
                .generate(**_context(folder, envelopes, console_link, only, told))
            ):
                file.write(part)
        written.replace(out)
    finally:
        written.unlink(missing_ok=True)


def _context(
    folder: Path,
    envelopes: Mapping[str, Envelope],
    console_link: Callable[[RecommendationRecord], str],
    only: Only | None,
    told: str,
) -> dict[str, Any]:
    run, whole = read_run(folder), only is None
    policy = parse_policy(dict(run["policy"]))
    steps = {str(step): step_words(step, policy) for step in Step}
    fleet = count_fleet(chosen_records(folder, only))
    return {
        "run": run,
        "told": told,
        "headline": headline(fleet, run, whole=whole),
        "figures": list(figures(fleet, judged_by(policy))),
        "tally": fleet.tally,
        "unpriced": fleet.unpriced,
        "incomplete": incomplete(run, whole=whole),
        "resume": resume_command(run, folder),
        "judged_by": judged_by(policy),
        "todos": list(todos(fleet, policy, folder)),
        "unread": list(unread(run)) if whole else [],
        "left_out": list(left_out(run)) if whole else [],
        "notices": run["notices"] if whole else {},
        "breakdowns": list(breakdowns(fleet)),
        "about": list(about(run, policy)),
        "steps": {step: words for step, words in steps.items() if step in fleet.steps},
        "columns": COLUMNS,
        "settings": packed(
            {
                "steps": {step: {"name": words.name, "why": words.why} for step, words in steps.items()},
                "grades": GRADE_WORDS,
                "specs": specs(),
                "width": WIDTH_PX,
                "falling": [key for key, _, kind in COLUMNS if kind],
            }
        ),
        "blocks": blocks(
            matched_records(folder, only),
            pictures=lambda volume: pictures_of(volume, envelopes),
            console_link=console_link,
        ),
        "style": style(),
        "script": script(),
        "early": early(),
        "drawer": packed(drawing_script()),
        "hashes": [hash_of(early()), hash_of(script()), hash_of(drawing_script())],
    }


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=PackageLoader("plimsoll.reports.html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["count_of"] = count_of
    environment.filters.update(
        usd=usd, short_name=short_name, change_words=change_words, outcome_text=outcome_text, plight=plight, cut=cut
    )
    return environment
