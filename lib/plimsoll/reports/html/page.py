"""`report.html`: a run as one file that opens offline in any browser, each volume's drill-down in it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from jinja2 import Environment
from pydantic_core import to_json

from plimsoll.domain.envelope import Envelope
from plimsoll.policy_file import parse_policy
from plimsoll.reports.charts.demand import demand_picture
from plimsoll.reports.charts.picture import Picture
from plimsoll.reports.charts.roofline import roofline_picture
from plimsoll.reports.charts.theme import WIDTH_PX
from plimsoll.reports.cloud_terms import accounts_in, clouds_of
from plimsoll.reports.html.breakdowns import breakdowns
from plimsoll.reports.html.page_files import drawing_script, early, hash_of, script, specs, style, templates_of
from plimsoll.reports.html.run_details import about, audited_at
from plimsoll.reports.html.volume_blocks import blocks, keep_blocks, kept_blocks, packed
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Matched, Only, matched_records, read_run
from plimsoll.reports.steps import Step, StepWords, judged_by, step_words
from plimsoll.reports.summary.gaps import left_out, noted, unread
from plimsoll.reports.summary.headline import figures, headline, incomplete, resume_command, since_before
from plimsoll.reports.summary.todos import Overview, counted, most_money, todos
from plimsoll.reports.wording import (
    GRADE_WORDS,
    change_words,
    count_of,
    cut,
    given_up,
    outcome_text,
    plight,
    short_name,
    usd,
)
from plimsoll.writing import whole

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

SEEN: Final = "{seen}"
"""In the words of the steps, where a drill-down says for how long its volume was observed."""


def write_html(
    folder: Path,
    out: Path,
    *,
    envelopes: Mapping[str, Envelope],
    console_link: Callable[[RecommendationRecord], str],
    only: Only | None = None,
    told: str = "",
    shown: Only | None = None,
    shown_told: str = "",
    called: Path | None = None,
) -> None:
    """Writes the report of a run's folder, whole or not at all; memory does not grow with the fleet.

    `envelopes` are drawn in the pictures, by name. `only` restricts the report to some volumes, and `told` says to
    which. `shown` restricts its list alone, where that has no room for all, and `shown_told` says to which. `called` is
    what its commands call the folder, where readers will have it elsewhere. BadInput where the folder holds no run or a
    damaged one, or the file cannot be written.
    """
    run, overview = read_run(folder), Overview()
    found = counted(matched_records(folder, only), overview)
    volumes = found if shown is None else (volume for volume in found if shown(volume[0]))
    # What stands above the volumes is their sum, so that they are read first, once, and put aside.
    with whole(out) as beside, TemporaryFile("w+", encoding="ascii") as aside:
        keep_blocks(
            blocks(volumes, pictures=lambda volume: _pictures_of(volume, envelopes), console_link=console_link), aside
        )
        said = _said(called or folder, run, overview, told, whole_run=only is None)
        template = _environment().get_template("page.html.j2")
        page = template.stream(**said, shown_told=shown_told, blocks=kept_blocks(aside))
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(page)


def _said(folder: Path, run: Mapping[str, Any], overview: Overview, told: str, *, whole_run: bool) -> dict[str, Any]:
    policy, totals = parse_policy(dict(run["policy"])), overview.totals
    steps = {str(step): step_words(step, policy, SEEN) for step in Step}
    account = accounts_in(clouds_of(run))
    return {
        **_same_for_every_run(steps),
        "run": run,
        "day": f"{audited_at(run):%Y-%m-%d}",
        "told": told,
        "headline": headline(totals, run, whole=whole_run),
        "judged_by": judged_by(policy),
        "incomplete": incomplete(run, whole=whole_run),
        "resume": resume_command(run, folder),
        "since": since_before(run) if whole_run else "",
        "totals": totals,
        "figures": list(figures(totals, judged_by(policy))),
        "most_money": most_money(totals),
        "todos": list(todos(overview, policy, folder)),
        "unread": list(unread(run)) if whole_run else [],
        "left_out": list(left_out(run)) if whole_run else [],
        "notices": list(noted(run)) if whole_run else [],
        "clouds": len(totals.by["cloud"]),
        "account": account,
        "breakdowns": list(breakdowns(totals, account)),
        "about": list(about(run, policy)),
        "steps": {step: words for step, words in steps.items() if step in totals.by["step"]},
    }


def _environment() -> Environment:
    environment = templates_of("plimsoll.reports.html")
    environment.globals["count_of"] = count_of
    environment.filters.update(
        usd=usd,
        short_name=short_name,
        change_words=change_words,
        outcome_text=outcome_text,
        plight=plight,
        given_up=given_up,
        cut=cut,
        place_of=_place_of,
    )
    return environment


def _place_of(record: RecommendationRecord) -> str:
    """What names a volume in the page's addresses: its id alone may be that of several."""
    return f"{record.account}/{record.region}/{record.volume_id}"


def _same_for_every_run(steps: Mapping[str, StepWords]) -> dict[str, Any]:
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


def _pictures_of(volume: Matched, envelopes: Mapping[str, Envelope]) -> dict[str, Any]:
    """A volume's pictures by kind, without the spans, which all of them share; none where there is no profile."""
    record, profile = volume
    if profile is None:
        return {}
    found = {"demand": _figures(demand_picture(record, profile))}
    if record.ceilings is not None:
        envelope = envelopes.get(record.evidence.envelope or "") if record.evidence else None
        found["roofline"] = _figures(roofline_picture(record, profile, envelope))
    return found


def _figures(picture: Picture) -> dict[str, Any]:
    return {"title": picture.title, "subtitle": picture.subtitle, "datasets": picture.datasets}
