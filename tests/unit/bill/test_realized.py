"""What became of savings: carried out, realized by the bill, undone, made anew, or not known."""

import json
from datetime import UTC, date, datetime

import pytest
from typer.testing import CliRunner

from cloud_simulator.aws.bills import hours_of, write_bill
from plimsoll.cli.main import app
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.reports.record import OwnerRecord, SpecRecord
from plimsoll.reports.run_reader import read_run
from plimsoll.reports.story.run import changes_since
from plimsoll_bill.api import note_realized, read_bill
from plimsoll_bill.realized import MonthOf, Realized, find_realized, follow_savings
from tests.unit.bill.test_bill import SAMPLE, a_charge
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

APRIL, MAY, JUNE, JULY = (date(2026, month, 1) for month in (4, 5, 6, 7))
GP2 = SpecRecord(type="gp2", size_gib=500, iops=None, throughput_mib_s=None)
GP3 = SpecRecord(type="gp3", size_gib=500, iops=3000, throughput_mib_s=125)
BOOKS = {"us-east-1": shipped_prices("aws").book("us-east-1")}
SAVED = BOOKS["us-east-1"].usd_month(GP2.spec) - BOOKS["us-east-1"].usd_month(GP3.spec)


def a_volume_record(current, target=None, volume_id="vol-1", **fields):
    saved = SAVED if target else 0.0
    owner = OwnerRecord(kind="terraform", name="storage")
    whole = {"account": "1", "region": "us-east-1", "name": "ledger", "owner": owner, "monthly_usd_saved": saved}
    return a_record(
        "migrate" if target else "keep",
        **{**whole, "volume_id": volume_id, "current": current, "target": target, "drop_in": None, **fields},
    )


def on(month, *records):
    return datetime(2026, month, 15, tzinfo=UTC), list(records)


def outcome_of(tmp_path, billed, runs, discount_pct=0.0):
    """What became of the runs' savings by bills: of each month what every volume is billed as."""
    for month, volumes in billed.items():
        charges = [
            a_charge(
                f"EBS:VolumeUsage.{type_}",
                500.0,
                {"gp2": 0.1, "gp3": 0.08}[type_],
                resource=volume,
                discount_pct=discount_pct,
                from_hour=from_hour,
                to_hour=min(to_hour, hours_of(month)),
            )
            for volume, type_, from_hour, to_hour in volumes
        ]
        write_bill(charges, month, tmp_path / f"{month:%m}.parquet")
    with read_bill([str(tmp_path)]) as bill:
        return find_realized(bill, follow_savings(runs), BOOKS)


def figures_of(outcome):
    return {
        month.month: tuple(round(getattr(outcome.total(month), name), 4) for name in ("promised", "realized", "lost"))
        for month in sorted({month for month, _ in outcome.months})
    }


def whole(type_, volume="vol-1"):
    return volume, type_, 0, 744


def test_a_saving_that_is_undone_was_realized_for_a_month_and_is_lost_by_name(tmp_path):
    billed = {APRIL: [whole("gp2")], MAY: [whole("gp2")], JUNE: [whole("gp3")], JULY: [whole("gp2")]}
    runs = [
        on(5, a_volume_record(GP2, GP3)),
        on(6, a_volume_record(GP3)),
        on(7, a_volume_record(GP2, GP3)),
    ]
    outcome = outcome_of(tmp_path, billed, runs)
    assert figures_of(outcome) == {
        5: (SAVED, 0.0, 0.0),
        6: (SAVED, pytest.approx(SAVED), 0.0),
        7: (SAVED, 0.0, pytest.approx(SAVED)),
    }
    (lost,) = outcome.lost
    assert (lost.month, lost.key, lost.reason) == (JULY, ("1", "us-east-1", "vol-1"), "billed as gp2 again")
    assert {owner for _, owner in outcome.months} == {lost.owner}


def test_a_volume_that_is_made_anew_in_its_place_loses_the_saving(tmp_path):
    billed = {MAY: [whole("gp2")], JUNE: [whole("gp3")], JULY: [whole("gp2", "vol-2")]}
    runs = [
        on(5, a_volume_record(GP2, GP3)),
        on(6, a_volume_record(GP3)),
        on(7, a_volume_record(GP2, GP3, volume_id="vol-2")),
    ]
    outcome = outcome_of(tmp_path, billed, runs)
    assert figures_of(outcome)[6] == (SAVED, pytest.approx(SAVED), 0.0)
    assert [(lost.month, "vol-2" in lost.reason) for lost in outcome.lost] == [(JULY, True)]


def test_what_was_never_carried_out_is_promised_and_realizes_nothing(tmp_path):
    billed = {MAY: [whole("gp2")], JUNE: [whole("gp2")]}
    runs = [on(5, a_volume_record(GP2, GP3)), on(6, a_volume_record(GP2, GP3))]
    outcome = outcome_of(tmp_path, billed, runs)
    assert figures_of(outcome) == {5: (SAVED, 0.0, 0.0), 6: (SAVED, 0.0, 0.0)}
    assert not outcome.lost
    assert outcome.total(JUNE).carried_out == 0


def test_a_change_within_the_month_realizes_its_part_of_the_month(tmp_path):
    billed = {MAY: [whole("gp2")], JUNE: [("vol-1", "gp2", 0, 180), ("vol-1", "gp3", 180, 720)]}
    runs = [on(5, a_volume_record(GP2, GP3)), on(6, a_volume_record(GP3))]
    outcome = outcome_of(tmp_path, billed, runs)
    assert outcome.total(JUNE).realized == pytest.approx(SAVED * 540 / 720, abs=1e-4)
    assert not outcome.lost


def test_a_volume_that_is_gone_realizes_nothing_that_is_not_known(tmp_path):
    billed = {MAY: [whole("gp2"), whole("gp2", "vol-9")], JUNE: [whole("gp3")], JULY: [whole("gp2", "vol-9")]}
    other = a_volume_record(GP2, volume_id="vol-9", name="other")
    runs = [on(5, a_volume_record(GP2, GP3), other), on(6, a_volume_record(GP3), other), on(7, other)]
    outcome = outcome_of(tmp_path, billed, runs)
    assert outcome.unknown == {("1", "us-east-1", "vol-1")}
    assert figures_of(outcome)[7] == (SAVED, 0.0, 0.0)


def run_command(*words):
    answer = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert answer.exit_code == 0
    return answer.stdout


def test_commands_print_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = json.loads(run_command("bill", SAMPLE, "--format", "json", "--month", "2024-09"))
    assert set(told["paid"]) == {"USD"}
    assert told["checks"]["at_list"] == 56
    shown = run_command("bill", SAMPLE, "--net-prices", "net.yaml")
    assert "Block Volume - Performance Units" in shown
    assert (tmp_path / "net.yaml").exists()


def test_the_newest_month_is_noted_in_the_newest_run_and_its_story_says_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "plimsoll-runs" / "may"
    a_run(folder, [a_volume_record(GP3)])
    outcome = Realized(months={(JUNE, "a"): MonthOf(promised=60.0, carried_out=50.0, realized=30.0, lost=20.0)})
    assert note_realized(outcome).resolve() == folder
    run = read_run(folder)
    assert run.realized.model_dump() == {
        "month": "2026-06", "promised": 60.0, "carried_out": 50.0, "realized": 30.0, "lost": 20.0
    }  # fmt: skip
    said = changes_since(run)
    assert all(figure in said for figure in ("2026-06", "$30", "$50", "$20"))
