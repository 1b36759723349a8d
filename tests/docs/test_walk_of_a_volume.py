"""lib/walk.md is the way that a volume takes: its stops are entered in that order, and its figures are of that run."""

import re
from pathlib import Path

import pytest

from plimsoll.model.kinds import dollars
from plimsoll.model.policy import Policy
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import spec_text
from tests.docs.walks import ROOT
from tests.gates.library import PACKAGES
from tests.gates.trace import trace_volume

pytestmark = pytest.mark.once

PAGE = (ROOT / "lib" / "walk.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
STOP = re.compile(r"^\d+\. \[`([^`]+)`\]\(plimsoll/([^)]+)\) `([^`]+)`$", re.MULTILINE)
MOST_WORDS = 700


def stops() -> list[tuple[str, str]]:
    """The stops of the page: each a file under lib and a qualified name."""
    listed = STOP.findall(PAGE)
    assert all(path == linked for path, linked, _ in listed)
    return [(f"{PACKAGES[0]}/{path}", function) for path, _, function in listed]


def room(file: str) -> str:
    """The first-level package or module of a file under lib."""
    return Path(file).parts[1]


def test_each_stop_is_entered_and_in_that_order():
    calls = trace_volume().calls
    assert len(stops()) == len(re.findall(r"^\d+\. ", PAGE, re.MULTILINE))
    assert 10 <= len({file for file, _ in stops()}) <= 12
    assert [stop for stop in stops() if stop not in calls] == []
    assert sorted(stops(), key=calls.index) == stops()


def test_every_room_that_the_volume_enters_has_a_stop_or_a_word():
    also = WORDS.partition("Also entered: ")[2]
    named = {room(file) for file, _ in stops()} | set(re.findall(r"`([\w.]+)`", also))
    assert named == {room(file) for file, _ in trace_volume().calls}


def figures_of(record: RecommendationRecord) -> list[str]:
    """Every figure of the page as the run has it, those that hold others first."""
    policy, line = Policy(), record.model_dump(mode="json")
    demand, ceilings, cheapest = line["demand"], line["ceilings"], record.offers[0]
    factor, minutes = 1 + policy.headroom_pct / 100, demand["hours_observed"] * 60
    now_usd, saved_usd, cheapest_usd = line["monthly_usd_now"], line["monthly_usd_saved"], cheapest.monthly_usd
    (received_pct,) = set(demand["series_received_pct"].values())
    return [
        "aws ec2 modify-volume … " + record.change.splitlines()[0].partition(record.volume_id)[2].strip(),
        f'"monthly_usd_saved": {saved_usd}',
        spec_text(record.current),
        spec_text(record.target),
        spec_text(cheapest.spec),
        f"{demand['hours_observed']:.0f} hours by the minute",
        f"{minutes:,.0f} minutes in each",
        f"none of {minutes:,.0f} is open",
        f"{len(demand['series_received_pct'])} series are the volume's own",
        f"{received_pct:.0f} % of each series",
        f"{demand['peak_iops']:,.0f} IOPS",
        f"{demand['peak_throughput_mib_s']:,.1f} MiB/s",
        f"{len(record.epochs)} epoch",
        f"{ceilings['now']['iops']:,.0f} IOPS and {ceilings['now']['throughput_mib_s']:,.0f} MiB/s",
        f"its host carries {ceilings['hosts']['iops']:,.0f} IOPS",
        f"headroom of {policy.headroom_pct:.0f} %",
        f"{demand['peak_iops'] * factor:,.0f} IOPS",
        f"{demand['peak_throughput_mib_s'] * factor:,.1f} MiB/s",
        f"{demand['throttled_minutes']:.0f} minutes were throttled",
        f"{saved_usd / (now_usd - cheapest_usd):.0%} as much".replace("%", " %"),
        f"at least {policy.drop_in_share_pct:.0f} % was asked for",
        f"each of {len(record.offers)} types",
        f"{len(record.reason_codes)} reasons",
        *(dollars(usd) for usd in (now_usd, line["monthly_usd_then"], cheapest_usd, now_usd - cheapest_usd, saved_usd)),
    ]


def test_the_figures_are_those_of_the_run_and_no_others_stand_there():
    rest = re.sub(r"\]\([^)]*\)", "]", " ".join(re.sub(r"^\d+\. ", "", PAGE, flags=re.MULTILINE).split()))
    for figure in figures_of(trace_volume().record):
        assert figure in WORDS
        rest = rest.replace(figure, "")
    assert re.findall(r"\S*\d\S*", rest) == []


def test_the_words_are_those_of_the_run():
    record = trace_volume().record
    assert record.name is not None
    assert f'`"action": "{record.action}"`' in WORDS
    assert record.name in WORDS
    assert {"same-limits", "larger-host"} <= set(record.reason_codes)


def test_the_page_is_short():
    assert len(re.sub(r"\]\([^)]*\)", "]", PAGE).split()) <= MOST_WORDS
