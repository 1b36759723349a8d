"""A backtest as a page: one file that opens offline, with a picture for each memory and scale of demand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from jinja2 import Environment
from markupsafe import Markup

from plimsoll.distribution import CHARTS, install_hint
from plimsoll.reports.charts.pictures import Row
from plimsoll.reports.charts.theme import LIGHT, WIDTH_PX
from plimsoll.reports.html.page import templates_of
from plimsoll_backtest.findings import RuleOutcome
from plimsoll_backtest.outcome import BacktestOutcome
from plimsoll_backtest.rules import LEARNED
from plimsoll_backtest.shown import rule_cells


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The rules at one memory and scale; `picture` is None where the extra is missing that draws it."""

    title: str
    rows: Sequence[Sequence[str]]
    picture: Markup | None


def outcome_page(outcome: BacktestOutcome) -> str:
    """The page of a backtest."""
    shown = [row for row in outcome.reliability if row.times is None] or outcome.reliability
    page = _environment().get_template("page.html.j2")
    groups = list(_groups(outcome.rules))
    lacking = "" if CHARTS.is_installed else install_hint(CHARTS)
    return page.render(about=outcome.about, reliability=shown, targets=outcome.targets, groups=groups, lacking=lacking)


def picture_rows(rules: Sequence[RuleOutcome]) -> list[Row]:
    """The rows of a picture of some rules. A level at which nothing is made cheaper is left out."""
    return [
        {
            "rule": rule.rule,
            "level": "" if rule.promised_pct is None else f"{rule.promised_pct:g} %",
            "saving_pct": rule.saving_pct,
            "minutes": rule.throttled_minutes,
            "is_curve": rule.promised_pct is not None,
            "label": f"{rule.promised_pct:g} %" if rule.rule == LEARNED else "",
        }
        for rule in rules
        if rule.reduced
    ]


def _groups(rules: Sequence[RuleOutcome]) -> Iterator[_Group]:
    for (memory_days, times), group in groupby(rules, key=lambda rule: (rule.memory_days, rule.times)):
        here = list(group)
        title = f"{memory_days:g} days of memory, demand times {times:g}"
        picture = _draw(here, title) if CHARTS.is_installed else None
        yield _Group(title=title, rows=[rule_cells(rule) for rule in here], picture=picture)


def _draw(rules: Sequence[RuleOutcome], title: str) -> Markup:
    from plimsoll.reports.charts.backtest_rules import tradeoff_spec  # noqa: PLC0415  # as above
    from plimsoll.reports.charts.render import to_svg  # noqa: PLC0415  # the extra `charts` brings what it needs

    spec = tradeoff_spec(picture_rows(rules), LIGHT, WIDTH_PX, title=title)
    return Markup(to_svg(spec))  # noqa: S704  # drawn here, of names of rules and figures alone


@cache
def _environment() -> Environment:
    return templates_of("plimsoll_backtest")
