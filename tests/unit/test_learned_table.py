"""The learned table is a file that is read as it was written, or refused in a sentence."""

import json

import numpy as np
import pytest

from plimsoll.domain.errors import BadInput
from plimsoll.domain.risk.calibration import calibrate
from plimsoll.domain.risk.table import Band, LearnedTable, TableSource
from plimsoll.learned_table import parse_table, table_text
from tests.unit.domain.risk.test_calibration import scores


def a_table() -> LearnedTable:
    found = scores(np.linspace(0.5, 4, 60))
    bands = [Band(memory_days=days, cuts=2, learned=calibrate(found)) for days in (14.0, 30.0)]
    source = TableSource(on="2026-11-23", fleets=("a.npz",), volumes=60, public=True)
    return LearnedTable(days=30, budget_min=15, period_s=300, source=source, bands=tuple(bands))


def test_what_is_written_is_read():
    assert parse_table(table_text(a_table())) == a_table()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 1}', '{"format": 3}', table_text(a_table()).replace("14.0", '"x"')]
)
def test_what_is_no_table_is_refused(text):
    with pytest.raises(BadInput):
        parse_table(text)


def test_every_missing_key_is_refused():
    written = json.loads(table_text(a_table()))
    del written["checksum"]
    for key in written:
        with pytest.raises(BadInput):
            parse_table(json.dumps({name: value for name, value in written.items() if name != key}))


def test_a_figure_that_changed_is_refused():
    text = table_text(a_table())
    figures = [place for place, letter in enumerate(text) if letter.isdigit() and place > text.index("{")]
    for place in figures[:: max(1, len(figures) // 50)]:
        changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        if json.loads(changed) != json.loads(text):
            with pytest.raises(BadInput):
                parse_table(changed)


def test_a_history_has_the_longest_band_that_is_no_longer():
    table = a_table()
    assert table.band(7) is None
    assert [table.band(days).memory_days for days in (14, 29, 30, 455)] == [14, 14, 30, 30]
