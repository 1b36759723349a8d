"""`report.html`: a run as one file that opens offline in any browser, each volume's drill-down in it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from jinja2 import Environment

from plimsoll.domain.envelope import Envelope
from plimsoll.policy_file import parse_policy
from plimsoll.reports.cloud_words import accounts_in, clouds_of
from plimsoll.reports.html.about import about, audited_at
from plimsoll.reports.html.blocks import blocks, keep_blocks, kept_blocks
from plimsoll.reports.html.machinery import machinery
from plimsoll.reports.html.pictures import pictures_of
from plimsoll.reports.html.savings import breakdowns
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import Step
from plimsoll.reports.stored import read_run
from plimsoll.reports.summary.headline import figures, headline, incomplete, resume_command
from plimsoll.reports.summary.matched import Only, matched_records
from plimsoll.reports.summary.overview import Overview, counted
from plimsoll.reports.summary.since import since_before
from plimsoll.reports.summary.step_words import judged_by, step_words
from plimsoll.reports.summary.todos import most_money, todos
from plimsoll.reports.summary.unread import left_out, noted, unread
from plimsoll.reports.templating import templates_of
from plimsoll.reports.wording import change_words, count_of, cut, given_up, outcome_text, plight, short_name, usd
from plimsoll.writing import whole

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
            blocks(volumes, pictures=lambda volume: pictures_of(volume, envelopes), console_link=console_link), aside
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
        **machinery(steps),
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
