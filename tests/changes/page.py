"""The measurements as Markdown: all for README.md, and the few that docs/changes.md quotes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from tests.changes.rollouts import PLOTS, RolloutOutcome
from tests.changes.singles import (
    BETTER,
    CANNOT_TELL,
    DIRECT,
    HELD,
    NO_SLOWER,
    RANKED,
    RANKS,
    THREE_HOURS,
    WORSE,
    SplitOutcome,
    Tally,
    merge_tallies,
)
from tests.changes.waves import SCENES, WaveOutcome
from tests.changes.weeks import HARMS, UNCHANGED

PAGE: Final = Path(__file__).parent / "README.md"
QUOTE: Final = Path(__file__).parents[2] / "docs" / "changes.md"
BEGIN, END = "<!-- figures: make changes -->\n", "<!-- end of figures -->"
QUOTE_HARMS: Final = (
    UNCHANGED,
    "latency x1.25",
    "latency x2",
    "spread doubled",
    "x2 for two hours a day",
    "busiest 1 % of minutes stopped",
)
QUOTE_SCENES: Final = ("harmless", "harmless, and a release x1.3", "all x1.25", "one in ten x2 (at least one)")
QUOTE_SIZE: Final = 10
"""What docs/changes.md quotes: these harms, and these scenes of waves of so many members."""
TARGETS: Final = {0.01: (0.5, 1.5), 0.05: (3.0, 6.0)}
"""The percent of placebo weeks that may reach a level, in the mean over splits."""


def write_page(text: str) -> None:
    """Puts all figures into the page, and those that it quotes into the page of docs."""
    for path, part in ((PAGE, text), (QUOTE, quote_figures(text))):
        head, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        path.write_text(f"{head}{BEGIN}{part}{END}{rest.partition(END)[2]}", encoding="utf-8")


def read_figures(path: Path) -> str:
    """The figures that a page has between its marks."""
    return path.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def quote_figures(text: str) -> str:
    """The figures that a user needs, taken from the tables of all."""
    spreads = {row[0]: row[2] for row in _rows(text, "| promise |")}
    harms = {row[0]: (row[1], row[2], row[4]) for row in _rows(text, "| what the change did | worse |")}
    waves = {row[1]: row[3].split(" / ") for row in _rows(text, "| members |") if row[0] == str(QUOTE_SIZE)}
    lines = [
        "| what the change did | worse | hold | no slower |",
        "|---|---|---|---|",
        *(f"| {name} | {' | '.join(harms[name])} |" for name in QUOTE_HARMS),
        "",
        f"| waves of {QUOTE_SIZE} that go on | with held back volumes | without |",
        "|---|---|---|",
        *(f"| {name} | {' | '.join(waves[name])} |" for name in QUOTE_SCENES),
        "",
        f"From split to split of the machines, {spreads['1 %']} are *worse* without cause, {spreads['5 %']} *hold*.",
    ]
    return "\n".join(lines) + "\n"


def _rows(text: str, head: str) -> list[list[str]]:
    """The cells of each row of the table with this head."""
    table = next(block for block in text.split("\n\n") if block.startswith(head))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def figures(splits: Sequence[SplitOutcome], waves: Sequence[WaveOutcome], rollouts: Sequence[RolloutOutcome]) -> str:
    """All tables, in Markdown."""
    parts = [_false_alarms(splits), _harms(splits), _rivals(splits), _waves(waves), _rollouts(rollouts)]
    return "\n".join("\n".join(part) + "\n" for part in parts)


def observed_shares(splits: Sequence[SplitOutcome]) -> dict[float, list[float]]:
    """The share of unchanged weeks that reached each level, by split."""
    names = {0.01: WORSE, 0.05: HELD}
    return {level: [split.tallies[UNCHANGED, name].share for split in splits] for level, name in names.items()}


def _false_alarms(splits: Sequence[SplitOutcome]) -> Iterator[str]:
    weeks = sum(split.tallies[UNCHANGED, WORSE].weeks for split in splits)
    yield f"**False alarms** on {weeks:,} placebo weeks in {len(splits)} splits:"
    yield ""
    yield "| promise | mean of the splits | least and worst split | aim | |"
    yield "|---|---|---|---|---|"
    for level, shares in observed_shares(splits).items():
        percent = 100 * np.array(shares)
        least, most = TARGETS[level]
        verdict = "met" if least <= percent.mean() <= most else "**not met**"
        spread = f"{percent.min():.1f} to {percent.max():.1f} %"
        yield f"| {100 * level:.0f} % | {percent.mean():.2f} % | {spread} | {least} to {most} % | {verdict} |"


def _harms(splits: Sequence[SplitOutcome]) -> Iterator[str]:
    tallies = merge_tallies(splits)
    yield "**Found within the week**, in percent of weeks with any evidence; the median hour in brackets:"
    yield ""
    yield "| what the change did | worse | held | by stopped minutes | no slower | better | cannot tell |"
    yield "|---|---|---|---|---|---|---|"
    for harm in HARMS:
        if (harm, WORSE) in tallies:
            told = (WORSE, HELD, DIRECT, NO_SLOWER, BETTER)
            cells = [_cell(tallies[harm, name]) for name in told]
            cells.append(f"{100 * tallies[harm, CANNOT_TELL].share:.0f} %")
            yield f"| {harm} | {' | '.join(cells)} |"


def _cell(tally: Tally) -> str:
    percent = 100 * tally.share
    share = f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"
    return f"{share} ({tally.median_hour:.0f} h)" if tally.share else "0 %"


def _rivals(splits: Sequence[SplitOutcome]) -> Iterator[str]:
    tallies = merge_tallies(splits)
    yield "**What the field does**, on the same weeks: ranks (Mann-Whitney as Kayenta uses it, looked at nine times),"
    yield "and over 25 % slower for three hours in a row:"
    yield ""
    yield "| what the change did | this rule, worse | ranks | three hours |"
    yield "|---|---|---|---|"
    for harm in HARMS:
        if (harm, WORSE) in tallies and harm in RANKED:
            cells = (_cell(tallies[harm, name]) for name in (WORSE, RANKS, THREE_HOURS))
            yield f"| {harm} | {' | '.join(cells)} |"


def _waves(outcomes: Sequence[WaveOutcome]) -> Iterator[str]:
    yield "**Waves**: in percent of groups, with a hold-back of 5 / without one:"
    yield ""
    yield "| members | | groups | go on within two bakes | held in the week | worse | median hour of hold |"
    yield "|---|---|---|---|---|---|---|"
    for size in dict.fromkeys(outcome.size for outcome in outcomes):
        for scene in SCENES:
            both = [
                [each for each in outcomes if (each.size, each.scene, each.has_controls) == (size, scene, has)]
                for has in (True, False)
            ]
            if both[0]:
                cells = [_shares(both, name) for name in ("went_on", "held", "worse")]
                hours = " / ".join(_median([hour for each in lot for hour in each.held_hours]) for lot in both)
                groups = sum(each.groups for each in both[0])
                yield f"| {size} | {scene} | {groups} | {' | '.join(cells)} | {hours} |"


def _shares(both: Sequence[Sequence[WaveOutcome]], name: str) -> str:
    shares = [sum(getattr(each, name) for each in lot) / max(1, sum(each.groups for each in lot)) for lot in both]
    return " / ".join(f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %" for share in shares)


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):.0f}" if values else "-"


def _rollouts(outcomes: Sequence[RolloutOutcome]) -> Iterator[str]:
    yield "**Whole rollouts** of 300 volumes, with a hold-back / without one; means, and the median of days:"
    yield ""
    yield "| | of each | rule stops | person stops | changed by then | asked | harmed, left | harmless, back | days |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for plot in PLOTS:
        lots = [[each for each in outcomes if (each.plot, each.has_hold_back) == (plot, has)] for has in (True, False)]
        if all(lots):
            columns = zip(*(_rollout_cells(lot) for lot in lots), strict=True)
            cells = [" / ".join(column) for column in columns]
            yield f"| {plot} | {len(lots[0])} | {' | '.join(cells)} |"


def _rollout_cells(lot: Sequence[RolloutOutcome]) -> list[str]:
    stopped = [each for each in lot if each.stopped]
    by_person = sum(each.stopped_by_person for each in stopped)
    changed = f"{np.mean([each.changed_when_stopped for each in stopped]):.0f}" if stopped else "-"
    means = [np.mean([getattr(each, name) for each in lot]) for name in ("asked", "harmed_left", "harmless_back")]
    days = f"{np.median([each.days for each in lot]):.0f}"
    return [str(len(stopped) - by_person), str(by_person), changed, *(f"{mean:.1f}" for mean in means), days]
