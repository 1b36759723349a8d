"""The picture of what is paid: its parts are the whole, its sum is the bill, and what is not known is counted."""

from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest

from cloud_simulator.aws.bills import write_bill
from plimsoll.model.kinds import ARCHIVE, FAST_RESTORE, OF_DELETED
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.html.page import write_html
from plimsoll.reports.record import StateRecord
from plimsoll.reports.run_reader import read_run
from plimsoll.reports.run_record import PAID_PARTS
from plimsoll.reports.story.run import tell_states
from plimsoll.reports.totals import sum_states
from plimsoll_bill.api import read_bill
from plimsoll_bill.states.billed import BilledMonth, find_billed_month
from plimsoll_bill.states.picture import ELSEWHERE, NOT_PLACED, SNAPSHOTS, UNKNOWN, USED, draw_picture
from plimsoll_bill.states.report import StatesReport, note_states
from plimsoll_service.slack.blocks.report import run_conversation
from tests.profiles import examples
from tests.unit.bill.test_bill import OCTOBER, a_bill, a_charge
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run


def a_state(state=OF_DELETED, ids=("snap-1",), **fields):
    whole = {"provider": "aws", "account": "1", "region": "us-east-1", "action": "delete"}
    return StateRecord(state=state, ids=list(ids), **{**whole, **fields})


def a_month(cents, **fields):
    return BilledMonth(month=date(2026, 10, 1), cents=cents, snapshot_gib={}, **fields)


def a_volume(volume_id, usd, **fields):
    return a_record("keep", volume_id=volume_id, monthly_usd_now=usd, monthly_usd_saved=0.0, **fields)


def rows_of(*asked, **more):
    return {(row.type, row.state, row.currency): row for row in draw_picture(*asked, **more)}


def test_a_volume_without_a_price_is_counted_and_in_no_sum():
    rows = rows_of([a_volume("vol-1", None), a_volume("vol-2", 5.0)], [], [])
    ((_, row),) = rows.items()
    assert (row.count, row.unpriced, row.paid, row.used) == (2, 1, 5.0, 5.0)


def test_a_volume_that_the_bill_does_not_have_is_not_free():
    rows = rows_of([a_volume("vol-1", 5.0), a_volume("vol-2", 5.0)], [], [], bill=a_month({"vol-1": 700}))
    ((_, row),) = rows.items()
    assert (row.count, row.unpriced, row.paid) == (2, 1, 7.0)


def test_what_is_billed_and_has_no_price_here_is_not_known_to_be_used():
    rows = rows_of([a_volume("vol-1", None)], [], [], bill=a_month({"vol-1": 700}))
    ((_, row),) = rows.items()
    assert (row.paid, row.used, row.unknown) == (7.0, 0.0, 7.0)


def test_snapshots_of_unknown_cost_are_counted_whether_or_not_they_are_in_a_state():
    states = [a_state(ids=("snap-1", "snap-2"), monthly_usd_saved_least=0.0, monthly_usd_saved_most=3.0)]
    costs = [("snap-1", 2.0), ("snap-2", None), ("snap-3", None), ("snap-4", 1.0)]
    rows = rows_of([], states, costs)
    deleted, used = rows[SNAPSHOTS, OF_DELETED, "USD"], rows[SNAPSHOTS, USED, "USD"]
    assert (deleted.count, deleted.unpriced, deleted.paid, deleted.proof) == (2, 1, 2.0, 2.0)
    assert (used.count, used.unpriced, used.paid) == (2, 1, 1.0)


def test_a_saving_that_is_not_known_is_no_use():
    rows = rows_of([], [a_state()], [("snap-1", None)], bill=a_month({"snap-1": 400}))
    row = rows[SNAPSHOTS, OF_DELETED, "USD"]
    assert (row.paid, row.unknown, row.used) == (4.0, 4.0, 0.0)


def test_a_snapshot_in_two_states_is_paid_once_and_its_fast_restore_apart():
    states = [
        a_state(monthly_usd_saved_least=1.0, monthly_usd_saved_most=1.0),
        a_state(ARCHIVE, action="archive", gives_up=["time"], monthly_usd_saved_least=1.0, monthly_usd_saved_most=1.0),
        a_state(FAST_RESTORE, action="disable", monthly_usd=540.0),
    ]
    bill = a_month({"snap-1": 300, "snap-1 fast": 54_000})
    rows = rows_of([], states, [("snap-1", None)], bill=bill)
    assert {state: row.paid for (_, state, _), row in rows.items()} == {OF_DELETED: 3.0, FAST_RESTORE: 540.0}


def test_other_currencies_and_rows_without_a_place_are_named_and_in_no_sum_of_dollars(tmp_path):
    dollars = a_bill(tmp_path, a_charge(), a_charge("EBS:VolumeNovelty.gp3"), name="dollars.parquet")
    china = [a_charge(price=0.5, region="cn-northwest-1"), a_charge("EBS:SnapshotUsage", price=0.4, resource="snap-9")]
    write_bill(china, OCTOBER, tmp_path / "renminbi.parquet", currency="CNY")
    with read_bill([dollars, str(tmp_path / "renminbi.parquet")]) as bill:
        month = find_billed_month(bill, datetime(2026, 11, 20, tzinfo=UTC))
    rows = rows_of([], [], [], bill=month)
    assert {key: row.paid for key, row in rows.items()} == {
        (ELSEWHERE, UNKNOWN, "USD"): 8.0,
        (NOT_PLACED, UNKNOWN, "USD"): 0.0,
        ("gp3", UNKNOWN, "CNY"): 50.0,
        ("snapshot", UNKNOWN, "CNY"): 40.0,
    }
    assert rows[NOT_PLACED, UNKNOWN, "USD"].unpriced == 744


@pytest.mark.parametrize("seed", range(examples(40)))
def test_the_parts_are_what_is_paid_and_everything_is_counted_once(seed):
    draw = np.random.default_rng(seed)

    def maybe(most):
        return None if draw.random() < 0.3 else round(float(draw.random() * most), 2)

    records = [a_volume(f"vol-{number}", maybe(50)) for number in range(draw.integers(0, 8))]
    costs = [(f"snap-{number}", maybe(9)) for number in range(draw.integers(0, 8))]
    states = []
    for name, usd in costs:
        if draw.random() < 0.6:
            least = maybe(5)
            most = None if least is None else least + 3
            states.append(
                a_state(ids=(name,), monthly_usd=usd, monthly_usd_saved_least=least, monthly_usd_saved_most=most)
            )
    names = [record.volume_id for record in records] + [name for name, _ in costs] + ["vol-gone", "snap-gone"]
    bill = (
        None
        if draw.random() < 0.4
        else a_month({name: int(draw.integers(0, 5000)) for name in names if draw.random() < 0.8})
    )
    rows = draw_picture(records, states, costs, bill)
    for row in rows:
        assert sum(getattr(row, part) for part in PAID_PARTS[1:]) == pytest.approx(row.paid)
        assert min(getattr(row, part) for part in PAID_PARTS) >= 0
    if bill is not None:
        assert round(sum(row.paid for row in rows) * 100) == sum(bill.cents.values())
        known = [name for name in names[:-2] if name in bill.cents]
    else:
        known = [record.volume_id for record in records if record.monthly_usd_now is not None]
        known += [name for name, usd in costs if usd is not None]
    gone = 0 if bill is None else len({"vol-gone", "snap-gone"} & bill.cents.keys())
    assert sum(row.count for row in rows) == len(records) + len(costs) + gone
    assert sum(row.unpriced for row in rows) == len(records) + len(costs) - len(known)


def test_sums_of_states_count_what_is_not_known():
    priced = a_state(monthly_usd=2.0, monthly_usd_saved_least=1.0, monthly_usd_saved_most=2.0)
    (total,) = sum_states([priced, a_state(ids=("snap-2", "snap-3"))])
    assert (total.things, total.unpriced, total.unsaved, total.monthly_usd) == (3, 2, 2, 2.0)
    ((_, _, paid, least, most),) = tell_states([total]).rows
    assert (paid, least, most) == ("$2.00 and 2 unknown", "$1.00", "$2.00 and 2 unknown")


@pytest.fixture
def folder(tmp_path):
    """A run with states and a picture."""
    place = a_run(tmp_path / "run", [a_volume("vol-1", 5.0), a_volume("vol-2", None)])
    states = [
        a_state(
            ids=("snap-1", "snap-2"),
            monthly_usd=3.0,
            monthly_usd_saved_least=1.0,
            monthly_usd_saved_most=3.0,
            lacks=[{"code": "owners-word", "text": "Its owner."}],
        )
    ]
    picture = draw_picture(
        [a_volume("vol-1", 5.0), a_volume("vol-2", None)], states, [("snap-1", 1.0), ("snap-2", 2.0)]
    )
    note_states(place, StatesReport(states=states, picture=picture))
    return place


def test_the_picture_and_the_states_are_views(folder):
    with open_runs(folder) as database:
        ((state, ids, least, code),) = database.rows(
            "select state, ids, monthly_usd_saved_least, lacks[1].code from states"
        )
        paid = dict(database.rows("select type, paid from paid where paid > 0"))
        ((unpriced,),) = database.rows("select sum(unpriced)::bigint from paid")
    assert (state, ids, least, code) == (OF_DELETED, ["snap-1", "snap-2"], 1.0, "owners-word")
    assert paid[SNAPSHOTS] == 3.0
    assert sum(paid.values()) == 8.0
    assert unpriced == 1


def test_a_run_without_states_has_empty_views(tmp_path):
    with open_runs(a_run(tmp_path / "run", [a_volume("vol-1", 5.0)])) as database:
        assert list(database.rows("select count(*) from states union all select count(*) from paid")) == [(0,), (0,)]


def test_the_page_and_the_message_show_the_picture_and_the_states(folder, tmp_path):
    run = read_run(folder)
    assert {row.type for row in run.paid} >= {SNAPSHOTS}
    write_html(folder, tmp_path / "page.html", envelopes={}, console_link=lambda record: "")
    page = Path(tmp_path / "page.html").read_text(encoding="utf-8")
    message = str(run_conversation(folder).main.payload)
    for text in (page, message):
        assert "What is paid a month, and what of it is used" in text
        assert "snapshots of deleted volumes" in text
    assert "1 more thing" in message
