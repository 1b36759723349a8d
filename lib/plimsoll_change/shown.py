"""A plan as a page that a change board signs, in Markdown."""

from collections.abc import Iterable, Iterator
from typing import Final

from plimsoll.clouds.common.calls import in_chunks
from plimsoll.reports.markdown.markup import fence, prose, table
from plimsoll.reports.wording import count_of, spec_text, usd
from plimsoll_change.plan import ChangePlan, PlannedLine, hours_until_back, slots_of
from plimsoll_change.waves import WaveKind

_LINES_A_FENCE: Final = 10

_KINDS: Final = {
    WaveKind.CANARY: "canary",
    WaveKind.DRAWN: "drawn at random",
    WaveKind.SINGLE: "critical, alone",
    WaveKind.HELD_BACK: "held back until all others are judged",
}


def plan_markdown(plan: ChangePlan) -> str:
    """The whole plan on a page: what changes when, what it saves and risks, and each way back."""
    return "\n\n".join(_parts(plan)) + "\n"


def sum_up_plan(plan: ChangePlan) -> str:
    """The size of a plan in a sentence."""
    return (
        f"{count_of(len(plan.lines), 'volume')} in {count_of(len(plan.waves), 'wave')}, {usd(plan.usd_month_saved)} a "
        f"month; {count_of(len(plan.left_out), 'volume')} left out."
    )


def _parts(plan: ChangePlan) -> Iterator[str]:
    yield f"# Change plan {plan.id}"
    yield prose(
        f"{count_of(len(plan.lines), 'volume')} of the run {plan.run} change. That saves {usd(plan.usd_month_saved)} "
        f"a month. Made {plan.made:%Y-%m-%d %H:%M} UTC, void from {plan.expires:%Y-%m-%d %H:%M} UTC on. Nothing is "
        "done before it is approved by this digest:"
    )
    yield fence(plan.digest)
    yield "## Waves"
    yield table(("Class", "Wave", "Volumes", "How", "Bakes at least"), _wave_rows(plan))
    yield prose(_rules_text(plan))
    yield "## Volumes"
    yield table(
        ("Volume", "Now", "Then", "Changed by", "Wave", "Saves a month", "Risk", "Way back after"), _line_rows(plan)
    )
    if any(line.optimizing_h for line in plan.lines):
        yield prose(
            "A way back waits until the cloud has moved the data. The hours are what its guide says (about 6 a TiB); "
            "some moves take days, and nothing can be taken back before."
        )
    if plan.late_back:
        names = ", ".join(line.label for line in plan.late_back)
        yield prose(
            "No way back within a day, which an approval has to accept (--accept-late-back): the cloud may move data "
            f"for longer, or gives too few slots. {names}."
        )
    yield "## Calls, and the ways back"
    for lines in in_chunks(plan.lines, _LINES_A_FENCE):
        yield fence("\n".join(_call_lines(lines)))
    if plan.left_out:
        yield "## Left out"
        yield table(("Volume", "Why"), list(plan.left_out.items()))


def _wave_rows(plan: ChangePlan) -> Iterator[tuple[str, ...]]:
    for wave in plan.waves:
        count = count_of(len(wave.members), "volume")
        yield wave.change_class, str(wave.number), count, _KINDS[wave.kind], f"{wave.bake_h:g} h"


def _rules_text(plan: ChangePlan) -> str:
    rules = plan.rules
    windows = "; ".join(
        f"{', '.join(window.days)} from {window.from_hour} to {window.to_hour} UTC" for window in rules.windows
    )
    slots = " and ".join(dict.fromkeys(str(rule) for line in plan.lines for rule in slots_of(line, rules)))
    freezes = "; ".join(f"{freeze.first} to {freeze.last} {freeze.reason}".strip() for freeze in rules.freezes)
    return (
        f"Changes begin {f'on {windows}' if windows else 'at any time'}{f', not from {freezes}' if freezes else ''}; "
        f"at most {count_of(rules.most_volumes_an_hour, 'volume')} an hour, with at most {usd(rules.most_usd_at_risk)} "
        f"at risk. A volume takes {slots}, its way back included, and is watched for a week. One that became worse "
        "goes back, and its class stops."
    )


def _line_rows(plan: ChangePlan) -> Iterator[tuple[str, ...]]:
    places = {name: wave for wave in plan.waves for name in wave.members}
    for line in plan.lines:
        risk = "none" if line.is_proved else f"{line.risk}; at most {line.budget_minutes:.0f} stopped minutes a week"
        yield (
            line.label,
            spec_text(line.now),
            spec_text(line.then),
            line.owner if line.is_by_owner else "this plan",
            str(places[line.id].number),
            usd(line.usd_month_saved),
            risk,
            f"{hours_until_back(line, plan.rules):.1f} h, for {usd(line.usd_month_saved)} a month",
        )


def _call_lines(lines: Iterable[PlannedLine]) -> Iterator[str]:
    for line in lines:
        yield f"# {line.id} {line.label}: {line.now} -> {line.then}"
        yield line.forth_text
        yield "# back:"
        yield line.back_text
