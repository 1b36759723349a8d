"""Explanations of whole fleets: each volume of both simulated clouds stands on two screens of 80 columns."""

import io
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len
from rich.console import Console

from cloud_simulator.running import running, running_google
from plimsoll.model.policy import Policy
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import matched_records
from plimsoll.reports.terminal.explain import SCREEN_ROWS, show_record
from tests.unit.reports.terminal.screens import TWO_SCREENS, screen_lines

from .in_process import audited_both

pytestmark = pytest.mark.once

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LINK = f"https://console.example/{'x' * 300}"
CLOSING = 3
"""The lines of the sentence that says which run it is, and how to see more."""

Matched = tuple[RecommendationRecord, DemandProfileRecord | None]


@pytest.fixture(scope="module")
def volumes(tmp_path_factory: pytest.TempPathFactory) -> list[Matched]:
    folder = tmp_path_factory.mktemp("explained") / "run"
    with running(NOW, volumes=1) as organization, running_google(NOW, volumes=1) as projects:
        audited_both(organization, projects, folder, NOW, Policy(lookback_days=1))
    return list(matched_records(folder, None))


def explained(volume: Matched, *, whole: bool = False) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=False, color_system=None)
    show_record(console, *volume, LINK, whole=whole)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_volume_stands_on_two_screens_of_80_columns(volumes: list[Matched]) -> None:
    assert len(volumes) > 200
    shown = {volume[0].volume_id: explained(volume) for volume in volumes}
    assert max(screen_lines(text) for text in shown.values()) <= SCREEN_ROWS == TWO_SCREENS - CLOSING
    for record, _ in volumes:
        text = shown[record.volume_id]
        copied = {*record.change.splitlines(), *record.way_back.splitlines()}
        assert [line for line in text.splitlines() if cell_len(line) > 80 and line not in copied] == []
        assert LINK not in text
        assert f"answer: {record.action}" in text
        assert "money: " in text
        assert record.change.splitlines()[:1] == [line for line in text.splitlines() if line in copied][:1]


def test_what_does_not_stand_there_is_in_the_whole(volumes: list[Matched]) -> None:
    for volume in volumes:
        record, text = volume[0], explained(volume, whole=True)
        words = "".join(text.split())
        assert LINK in text
        assert all("".join(reason.split()) in words for reason in record.reasons)
        assert record.evidence is None or "".join(record.evidence.text.split()) in words
        assert record.change in text
