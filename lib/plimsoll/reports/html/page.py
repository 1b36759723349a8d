"""`report.html`: a run as one file that opens offline in any browser, each volume's drill-down in it.

The page's style sheets, scripts and templates, which are files of this package.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final
from urllib.parse import urlencode

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup
from pydantic_core import to_json

from plimsoll.decide.offers import LOSS_WORDS
from plimsoll.files import atomic_path
from plimsoll.model.envelope import Envelope
from plimsoll.model.kinds import KINDS
from plimsoll.policy_file import parse_policy
from plimsoll.reports.change_files import CHANGED_IN, ORDER, ORDER_HEAD, TOOLS, head_lines, run_lines
from plimsoll.reports.charts.theme import WIDTH_PX
from plimsoll.reports.csv_table import FORMULAS
from plimsoll.reports.html.volume_blocks import HOW, blocks, to_base64
from plimsoll.reports.printable import printable
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Matched, Only, full_name, matched_records, read_run
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.steps import STEP_TITLES, Step, StepWords, step_words
from plimsoll.reports.story import Topic
from plimsoll.reports.story.run import Overview, blocks_about, count_volumes, counted_run, part_of_run, tell_run
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import (
    GRADE_NAMES,
    GRADE_WORDS,
    PROVIDERS,
    RISK_LEVELS,
    account_word,
    change_words,
    clouds_of,
    count_of,
    cut,
    losses_in_words,
    outcome_text,
    plight,
    short_name,
    usd,
    words_of,
)

STYLES: Final = ("page.css", "fleet.css", "volume.css", "print.css")
SCRIPTS: Final = ("dom.js", "figures.js", "blocks.js", "place.js", "copy.js", "take.js",
                  "groups.js", "table.js", "charts.js", "frontier.js",
                  "volume.js",
                  "theme.js", "main.js")  # fmt: skip
"""In the order in which they are joined: each may use what those before it define."""


@cache
def style() -> str:
    """All style sheets as one."""
    return "".join(_text("styles", name) for name in STYLES)


@cache
def script() -> str:
    """All scripts as one that defines nothing outside itself."""
    return "(() => {\n'use strict';\n" + "".join(_text("scripts", name) for name in SCRIPTS) + "})();\n"


@cache
def first_script() -> str:
    """The script that runs before the page is drawn."""
    return _text("scripts", "early.js")


@cache
def live_script() -> str:
    """The script that a served report has besides."""
    return _text("scripts", "live.js")


def vega(name: str) -> str:
    """A file that pictures are drawn with; `make pictures` makes it."""
    return _text("vega", name)


@cache
def specs() -> dict[str, dict[str, Any]]:
    """The Vega-Lite specs of every picture by kind and theme, without data, title and background.

    They are made for `WIDTH_PX`; in the reader's browser they become as wide as there is room.
    """
    charts: dict[str, dict[str, Any]] = json.loads(vega("specs.json"))
    return charts


@cache
def drawing_script() -> str:
    """The script that draws specs in a browser; its own names stay inside."""
    return f"(() => {{\n{vega('vega.js')}\n}})();\n"


def hash_of(script_text: str) -> str:
    """A script as a content security policy allows it."""
    return f"'sha256-{b64encode(sha256(script_text.encode()).digest()).decode('ascii')}'"


def templates_of(package: str) -> Environment:
    """The templates of a package's folder `templates`."""
    return Environment(
        autoescape=True,
        finalize=_show_value,
        loader=PackageLoader(package),
        bytecode_cache=BytecodeOfTemplates(
            str(files(package) / "__pycache__"), f"%s.jinja-{jinja2.__version__}.{sys.implementation.cache_tag}"
        ),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class BytecodeOfTemplates(FileSystemBytecodeCache):
    """Bytecode of templates beside that of modules: compiling them takes as long as all else of a small page."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps it as Python keeps a module's: not at all if that is not wanted, or cannot be done there."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)


def _show_value(value: Any) -> Any:
    """A value as a template shows it; what is marked as markup is ours."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text(folder: str, name: str) -> str:
    return (files(__package__) / folder / name).read_text(encoding="utf-8")


TABLE_COLUMNS: Final = (
    ("volume", "volume", ""),
    ("account", "where", ""),
    ("host", "host", ""),
    ("age", "age", "number"),
    ("from", "change", ""),
    ("now", "costs a month", "number"),
    ("saved", "saves a month", "number"),
    ("risk", "risk", "number"),
    ("losses", "gives up", ""),
    ("grade", "evidence", ""),
    ("step", "step", ""),
)
"""The table's columns that sort: key, head and kind."""

SHOWN_LINES: Final = 6
FOLDED: Final = 60

_DIMENSIONS: Final = ("cloud", "account", "region", "owner", "type")
_PRESENT: Final = {"type": "present type"}
"""Dimensions that have a name of their own in a head."""

SEEN: Final = "{seen}"
"""In the words of the steps, where a drill-down says for how long its volume was observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The facts of a report of `plimsoll serve` alone, which can ask its server for newer answers."""

    version: str


def write_html(
    folder: Path,
    out: Path,
    *,
    envelopes: Mapping[str, Envelope],
    console_link: Callable[[RecommendationRecord], str],
    only: Only | None = None,
    about: str = "",
    shown: Only | None = None,
    shown_about: str = "",
    called: Path | None = None,
    matches: Iterable[Matched] | None = None,
    live: Live | None = None,
) -> None:
    """Writes the report of a run's folder, whole or not at all; memory does not grow with the fleet.

    `found` are the run's volumes, where they are not in that folder, which then holds run.json alone.

    `envelopes` are drawn in the pictures, by name. `only` restricts the report to some volumes, and `about` says to
    which. `shown` restricts only its list, where that has no room for all, and `shown_about` says to which. `called` is
    what its commands call the folder. A report that is not `live` asks nobody for anything. BadInput where the folder
    holds no run or a damaged one, or the file cannot be written.
    """
    run, overview = read_run(folder), Overview()
    seen = count_volumes(matched_records(folder, only) if matches is None else matches, overview)
    volumes = seen if shown is None else (volume for volume in seen if shown(volume[0]))
    # What stands above the volumes is their sum, so that they are read first, once, and put aside.
    with atomic_path(out) as beside, TemporaryFile("w+", encoding="ascii") as aside:
        aside.writelines(blocks(volumes, envelopes, console_link))
        aside.seek(0)
        context = _context(called or folder, run, overview, about, whole_run=only is None)
        template = _environment().get_template("page.html.j2")
        page = template.stream(**context, **_live(live), shown_about=shown_about, blocks=aside)
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(page)


def _context(folder: Path, run: RunRecord, overview: Overview, about: str, *, whole_run: bool) -> dict[str, Any]:
    policy, totals = parse_policy(run.policy), overview.totals
    counted = counted_run(run if whole_run else part_of_run(run), totals)
    story = tell_run(counted, policy, folder=folder, overview=overview, whole=whole_run)
    steps = {str(step): step_words(step, policy, SEEN) for step in Step}
    account = account_word(clouds_of(run))
    return {
        **_same_for_every_run(steps),
        "run": run,
        "day": f"{run.as_of:%Y-%m-%d}",
        "about_part": about,
        "story": {topic: blocks_about(story, topic) for topic in Topic},
        "totals": totals,
        "clouds": len(totals.by["cloud"]),
        "account": account,
        "breakdowns": list(breakdowns(totals, account)),
        "steps": {step: words for step, words in steps.items() if step in totals.by["step"]},
    }


def _environment() -> Environment:
    environment = templates_of("plimsoll.reports.html")
    environment.globals["count_of"] = count_of
    filters = (short_name, change_words, outcome_text, plight, losses_in_words, cut, full_name)
    environment.filters.update({function.__name__: function for function in filters}, usd=usd)
    return environment


def _same_for_every_run(steps: Mapping[str, StepWords]) -> dict[str, Any]:
    """The parts of the page that are the same for every run.

    The content security policy allows these scripts by their hashes and nothing else: what draws the pictures
    interprets their expressions instead of evaluating them, so that no script is ever made from a text.
    """
    settings = {
        "steps": {step: {"name": words.name, "why": words.why, "color": words.color} for step, words in steps.items()},
        "kinds": {name: {"verdict": kind.verdict, "counts_as": kind.money} for name, kind in KINDS.items()},
        "grades": GRADE_WORDS,
        "risks": RISK_LEVELS,
        "rates": HOW,
        "specs": specs(),
        "width": WIDTH_PX,
        "changes": _change_settings(),
        "formulas": FORMULAS,
        "falling": [key for key, _, kind in TABLE_COLUMNS if kind],
    }
    return {
        "style": style(),
        "early": first_script(),
        "script": script(),
        "drawer": to_base64(drawing_script().encode()),
        "columns": TABLE_COLUMNS,
        "risks": RISK_LEVELS,
        "grades": GRADE_NAMES,
        "losses": {str(code): words for code, words in LOSS_WORDS.items()},
        "settings": to_base64(to_json(settings)),
    }


def _change_settings() -> dict[str, Any]:
    """The tools, steps and heads of files with which the page writes changes, as `change_files` does."""
    heads = {
        f"{provider}/{step}/{kind}": [
            *(
                "\n".join([*head_lines(step, tool, provider, "{account}", "{region}", back=back), ""])
                for back in (False, True)
            ),
            f"  {STEP_TITLES[step]}: {{volumes}}{{saves}}.\n{run_lines(tool, provider, '{account}')}",
        ]
        for provider in PROVIDERS
        for step in CHANGED_IN
        for kind, tool in TOOLS.items()
    }
    tools = {kind: {"slug": tool.slug, "ending": "sh" if tool.is_script else "txt"} for kind, tool in TOOLS.items()}
    return {"tools": tools, "steps": CHANGED_IN, "heads": heads, "order": ORDER, "order_head": ORDER_HEAD}


def _live(live: Live | None) -> dict[str, Any]:
    """The parts of a served report alone, with the hashes of all its scripts."""
    scripts = [first_script(), script(), drawing_script(), *([] if live is None else [live_script()])]
    return {"live": live, "live_script": live_script(), "hashes": [hash_of(source) for source in scripts]}


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakdownLine:
    """One value's volumes and money. `link` filters the table to them; shares are percent of the largest saving."""

    label: str
    link: str | None
    totals: RunTotals
    drop_in_pct: float
    proof_pct: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The savings by one dimension."""

    dimension: str
    column: str
    shown: list[BreakdownLine]
    folded: list[BreakdownLine]


def breakdowns(totals: RunTotals, account: str) -> Iterator[Breakdown]:
    """Every dimension's savings, those that save most first; `account` is what the run's clouds call one."""
    columns = {**_PRESENT, "account": account}
    for dimension in _DIMENSIONS:
        groups = totals.by[dimension]
        if dimension == "cloud":
            if len(groups) < 2:
                continue
            groups = {words_of(provider).cloud: part for provider, part in groups.items()}
        lines = list(_lines(dimension, groups))
        yield Breakdown(
            dimension=dimension,
            column=columns.get(dimension, dimension),
            shown=lines[:SHOWN_LINES],
            folded=lines[SHOWN_LINES:],
        )


def _lines(dimension: str, groups: Mapping[str, RunTotals]) -> Iterator[BreakdownLine]:
    ordered = sorted(groups.items(), key=lambda item: (-item[1].usd_saved, -item[1].usd_now, item[0]))
    most = max((group.usd_saved for group in groups.values()), default=0.0)
    for value, group in ordered[: SHOWN_LINES + FOLDED]:
        yield _line(value, "#" + urlencode({dimension: value}), group, most)
    tail = ordered[SHOWN_LINES + FOLDED :]
    if tail:
        others = RunTotals(by={})
        for _, group in tail:
            others.merge(group)
        yield _line(f"{count_of(len(tail), 'other')}", None, others, most)


def _line(label: str, link: str | None, group: RunTotals, most: float) -> BreakdownLine:
    def pct(amount: float) -> float:
        return round(min(100.0, amount / most * 100), 2) if most > 0 else 0.0

    return BreakdownLine(
        label=label,
        link=link,
        totals=group,
        drop_in_pct=pct(group.usd_saved_drop_in),
        proof_pct=pct(group.usd_saved_on_proof),
    )
