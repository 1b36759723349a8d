"""Reports in the terminal: they fit the console, show every name literally, and plot what was asked for."""

import io
import re
from itertools import takewhile

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from plimsoll.decide.answer import Change, ChangeSteps, Keep, command_step
from plimsoll.model.volume import Owner, OwnerKind
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER, SpecRecord
from plimsoll.reports.story import Topic
from plimsoll.reports.story.run import blocks_about
from plimsoll.reports.story.volume import tell_volume
from plimsoll.reports.terminal.explain import SCREEN_ROWS, offers_table, show_explanation, show_record
from plimsoll.reports.terminal.plot import plot
from plimsoll.reports.terminal.run import savings_table, show_run
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import usd
from tests.builders import a_demand, a_volume, decision
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.terminal.screens import screen_lines

HOSTILE = [
    "<script>alert(1)</script>",
    "[red]alarm[/red]",
    "[/]",
    "[bold",
    "데이터베이스 볼륨",
    "\\[x]",
    "[link=http://x]y",
    ":smile:",
]
WIDTHS = [80, 160]


def a_console(width):
    return Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)


def a_run(records=(), **fields):
    """What run.json says of a run of these records."""
    totals = RunTotals(seen=len(records))
    for record in records:
        totals.add(record)
    asked = {
        "usage": {"calls": 1_234, "metrics": 56_789, "datapoints": 12_345_678, "estimated_usd": 0.57},
        "plan": {"datapoints": 11_000_000, "most_datapoints": 246_913_560},
        "seconds": {"metrics": 12.3, "elapsed": 10.0},
    }
    return a_run_record(totals, **{"id": "20261120T120000Z", **asked, **fields})


def shown_run(width, run, best=()):
    console = a_console(width)
    show_run(console, run, best)
    return console.file.getvalue()


def shown_explanation(width, recommendation, demand=None, change="", link=None, *, way_back="", whole=True):
    console = a_console(width)
    forth, back = (tuple(map(command_step, filter(None, [text]))) for text in (change, way_back))
    changed = ChangeSteps(forth=forth, back=back)
    show_explanation(
        console,
        recommendation,
        demand,
        record_of(recommendation, changed, provider=FIRST_PROVIDER),
        link,
        whole=whole,
    )
    return console.file.getvalue()


def too_wide(text, width):
    return [line for line in text.splitlines() if cell_len(line) > width]


def squeezed(text):
    """Text without what wrapping puts into it."""
    return "".join(text.split())


# ---- a run


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_a_run_is_wider_than_the_console(width):
    records = [a_record(action, volume_id=f"vol-0123456789abcdef{n}") for n, action in enumerate(every_action())]
    long = "a name without any end " * 12
    failures = {
        "targets": {"444455556666/eu-west-1": f"not allowed: {long}"},
        "volumes": {"111122223333/us-east-1": {f"no metrics, {long}": ["vol-1", "vol-2"]}},
    }
    run = a_run(records, failures=failures, notices={"111122223333/us-east-1": [long]})
    best = [record.model_copy(update={"name": long}) for record in records if record.monthly_usd_saved > 0][:10]
    assert best
    assert too_wide(shown_run(width, run, best), width) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_volume_s_name_in_the_savings_is_shown_literally(width, name):
    record = a_record("migrate", name=name)
    text = shown_run(width, a_run([record]), [record])
    assert all(squeezed(word) in squeezed(text) for word in name.split())
    assert too_wide(text, width) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_notices_and_failures_are_shown_literally(name):
    failures = {"targets": {name: f"because {name}"}, "volumes": {"here": {f"oh {name}": ["vol-1"]}}}
    text = shown_run(160, a_run(failures=failures, notices={"there": [f"note {name}"]}))
    for words in (f"failed {name}, everything: because", f"failed here, vol-1: oh {name}", f"note there: note {name}"):
        assert words in text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_tag_that_excludes_is_shown_literally(name):
    counts = {"seen": 3, "answered": 0, "skipped": {f"excluded by the policy: tag {name}": 3}, "failed": 0}
    run = a_run(volumes=counts)
    assert f"excluded by the policy: tag {name}" in shown_run(160, run)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_folder_s_name_is_shown_literally(name):
    assert f"run {name}: complete" in shown_run(160, a_run(id=name))


def test_a_run_shows_its_money_its_counts_and_that_they_reconcile():
    records = [a_record("migrate"), a_record("keep")]
    text = shown_run(80, a_run(records), records[:1])
    assert f"{usd(a_record('migrate').monthly_usd_saved)} a month" in text
    assert "2 volumes seen each has exactly one outcome" in " ".join(text.split())
    assert "1 migrate move to another type" in " ".join(text.split())


def test_outcomes_that_do_not_add_up_are_not_hidden():
    run = a_run([a_record("keep")], volumes={"seen": 2, "answered": 1, "skipped": {}, "failed": 0, "reconciled": False})
    assert "the outcomes do not add up: please report this" in " ".join(shown_run(80, run).split())


@pytest.mark.parametrize("status", ["interrupted", "partial"])
def test_a_run_says_how_it_ended(status):
    assert f": {status}" in shown_run(80, a_run(status=status))


def test_an_empty_run_is_shown_without_a_share_of_nothing():
    text = shown_run(80, a_run())
    assert "% of $" not in text
    assert "0 volumes seen" in " ".join(text.split())


def test_a_wide_console_says_where_and_what_blocks():
    record = a_record("migrate", account="999988887777")
    for width, there in ((80, False), (160, True)):
        console = a_console(width)
        console.print(savings_table([record], width))
        assert ("999988887777" in console.file.getvalue()) is there


LONG_TYPES = ("hyperdisk-balanced", "hyperdisk-balanced-high-availability", "regional-pd-standard")


@pytest.mark.parametrize("name", LONG_TYPES)
def test_long_types_leave_room_for_the_grade_in_a_narrow_console_and_break_behind_a_hyphen(name):
    spec = SpecRecord(type=name, size_gib=16_384, iops=160_000, throughput_mib_s=2_400)
    saved = {"monthly_usd_saved": 12_345.67, "monthly_usd_saved_drop_in": 12_345.67}
    record = a_record("migrate", current=spec, target=spec, **saved)
    console = a_console(80)
    console.print(savings_table([record], 80))
    text = console.file.getvalue()
    assert text.splitlines()[1].endswith("risk  ev")
    broken = text.replace("-\n", "-").split()
    assert {part for part in name.split("-") if not any(part in word.split("-") for word in broken)} == set()


def test_long_types_among_the_offers_break_behind_a_hyphen_in_a_narrow_console():
    name = "hyperdisk-balanced-high-availability"
    spec = SpecRecord(type=name, size_gib=1_000, iops=5_052, throughput_mib_s=140)
    offer = a_record("migrate").offers[0].model_copy(update={"spec": spec, "refused": [f"{name} is kept in 2 zones"]})
    console = a_console(80)
    story = tell_volume(a_record("migrate").model_copy(update={"offers": [offer]}))
    (offers,) = blocks_about(story, Topic.OFFERS)
    console.print(offers_table(offers, 80))
    shown = console.file.getvalue()
    assert shown.count("hyperdisk-balanced-high-") == shown.count("availability") == 1
    assert "refused: kept in 2 zones" in " ".join(shown.split())
    assert "high-availability" not in shown


# ---- an explanation


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("action", sorted(every_action()))
def test_no_line_of_an_explanation_is_wider_than_the_console(width, action, whole):
    recommendation = every_action()[action]
    demand = None if action == "detached" else a_demand([0, 50, 3_000, 200] * 300, 20)
    text = shown_explanation(width, recommendation, demand, whole=whole)
    assert f"answer: {action}" in text
    assert too_wide(text, width) == []


@pytest.mark.parametrize("action", sorted(every_action()))
def test_an_explanation_ends_on_its_second_screen_whatever_it_has_to_say(action):
    demand = None if action == "detached" else a_demand([0, 50, 3_000, 200] * 300, 20)
    change = "\n".join(f"line {n} of the change {'x' * 150}" for n in range(40))
    text = shown_explanation(80, every_action()[action], demand, change, way_back=change, whole=False)
    assert screen_lines(text) <= SCREEN_ROWS
    assert "answer: " in text
    assert "money: " in text
    shown = [line for line in text.splitlines() if line in change.splitlines()]
    assert "line 0 of the change" in text
    assert [line for line in text.splitlines() if line.startswith("line ")] == shown, "no line of it is broken"
    assert text.count(" more lines: add --all") == 2


@pytest.mark.parametrize("action", ["migrate", "reprovision", "upgrade"])
def test_offers_stand_in_a_line_each_the_cheapest_first_and_the_chosen_one_marked(action):
    found = every_action()[action]
    rows = shown_explanation(80, found, a_demand(200, 10), whole=False).splitlines()
    title = next(at for at, row in enumerate(rows) if row.startswith("why this and not another"))
    offers = list(takewhile(lambda row: row.startswith(("→ ", "  ")), rows[title + 1 :]))
    prices = [float(re.search(r" ([\d,]+\.\d\d)  ", row)[1].replace(",", "")) for row in offers]
    assert prices == sorted(prices)
    (chosen,) = [row for row in offers if row.startswith("→ ")]
    assert "  chosen" in chosen
    assert all("  refused: " in row or "carries it" in row or "same limits" in row for row in offers if row != chosen)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", HOSTILE)
def test_an_explanation_shows_names_literally(width, name):
    owner = Owner(kind=OwnerKind.TERRAFORM, name=name)
    volume = a_volume("gp2", 500, tags={"Name": name}, owner=owner)
    demand = a_demand(200, 10)
    text = shown_explanation(width, decision(volume, demand), demand, change=f"set {name}", link=f"https://x/{name}")
    assert squeezed(text).count(squeezed(name)) >= 4
    assert f"set {name}" in text
    assert f"https://x/{name}" in text


def test_what_is_to_be_copied_is_never_broken():
    change = "aws ec2 modify-volume " + "--long-option value " * 20
    assert change.strip() in shown_explanation(80, every_action()["migrate"], None, change=change)


@pytest.mark.parametrize("action", ["migrate", "reprovision", "upgrade", "keep"])
def test_an_explanation_shows_ceilings_every_offer_and_the_evidence(action):
    found = every_action()[action]
    text = squeezed(shown_explanation(160, found, a_demand(200, 10)))
    assert isinstance(found, Change | Keep)
    for offer in found.comparison.offers:
        assert squeezed(str(offer.spec)) in text
    assert squeezed(f"evidence {found.evidence.grade.name}: {found.evidence.text}") in text
    assert f"{found.comparison.present.iops:,.0f}" in text


# ---- the plot


def drawn(series, *, width=40, height=7, **lines):
    return plot(np.asarray(series, np.float64), width=width, height=height, lines=lines, unit="IOPS")


def test_a_plot_has_as_many_rows_as_it_may_and_no_row_too_wide():
    rows = drawn(np.arange(500.0))
    assert len(rows) == 7
    assert {len(row) for row in rows} == {40 + len(f"{'':>10} ┤")}


def test_a_flat_series_fills_one_level():
    rows = [row.partition("┤")[2] for row in drawn([100.0] * 40)]
    assert all(set(row) == {"█"} for row in rows[1:])
    assert len(set(rows[0])) == 1


def test_nothing_asked_for_is_an_empty_plot():
    assert all(set(row.partition("┤")[2]) <= {" "} for row in drawn([0.0] * 40))
    assert all(set(row.partition("┤")[2]) <= {" "} for row in drawn([]))


def test_a_single_busy_minute_is_seen_in_its_column():
    series = np.zeros(4_000)
    series[1_234] = 500
    bottom = drawn(series)[-1].partition("┤")[2]
    assert bottom.index("█") == 1_234 * 40 // 4_000
    assert bottom.count("█") == 1


def test_levels_lie_at_their_height_with_their_name_and_figure():
    rows = drawn([100.0] * 40, now=190.0, offered=120.0)
    (now,) = [index for index, row in enumerate(rows) if " now 190 IOPS " in row]
    (offered,) = [index for index, row in enumerate(rows) if " offered 120 IOPS " in row]
    assert now == 0
    assert offered == 7 - 1 - int(120 / (190 * 1.05) * 7)


def test_a_level_far_above_is_named_and_does_not_squeeze_the_columns():
    rows = drawn([100.0] * 40, now=16_000.0)
    assert rows[0].strip() == "above the plot: now: 16,000 IOPS"
    assert rows[1:] == drawn([100.0] * 40)


def test_a_level_twice_as_high_as_the_highest_column_is_still_drawn():
    assert "above the plot" not in "".join(drawn([100.0] * 40, now=200.0))
    assert "above the plot" in "".join(drawn([100.0] * 40, now=201.0))


def test_a_target_without_a_price_is_not_said_to_cost_nothing():
    record = a_record("migrate").model_copy(update={"monthly_usd_then": None})
    console = a_console(80)
    show_record(console, record, None, None, None)
    (money,) = [line for line in console.file.getvalue().splitlines() if line.startswith("money:")]
    assert "an unknown price then" in money
    assert "$0" not in money
