"""Volumes that are paid for nothing by owner and year: few rows, whose sums are those of the run, in every report."""

import random

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.reports.record import OwnerRecord
from plimsoll.reports.totals import MOST_ROWS, RunTotals, cost_tables, costs_summary
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record


def a_detached(number, kind="hand", name=None, year=2023, usd=5.0):
    return a_record(
        "detached", volume_id=f"vol-{number}", owner=OwnerRecord(kind=kind, name=name),
        created=None if year is None else f"{year}-05-01T00:00:00+00:00", monthly_usd_now=usd,
    )  # fmt: skip


OWNERS = st.sampled_from([("hand", None), ("terraform", "net"), ("kubernetes", "shop/a"), ("kubernetes", "shop/b")])


@given(st.lists(st.tuples(OWNERS, st.sampled_from([2021, 2024, None]), st.integers(0, 10_000)), max_size=40))
def test_the_groups_add_up_to_the_run_however_it_is_parted(volumes):
    records = [a_detached(at, *owner, year, cents / 100) for at, (owner, year, cents) in enumerate(volumes)]
    records += [a_record("migrate", volume_id="vol-m"), a_record("keep", volume_id="vol-k")]
    whole = RunTotals.add_up(records)
    random.Random(1).shuffle(records)
    parted = RunTotals.add_up(records[::2])
    parted.merge(RunTotals.parse(RunTotals.add_up(records[1::2]).plain))
    rows = whole.summary()["detached"]
    assert rows == parted.summary()["detached"]
    assert sum(row["volumes"] for row in rows) == len(volumes)
    assert round(sum(row["monthly_usd"] for row in rows) * 100) == round(whole.usd_cost("detached") * 100)


def test_claims_of_one_namespace_are_one_owner_and_the_dearest_group_is_first():
    records = [a_detached(at, "kubernetes", f"shop/claim-{at}", usd=1.0) for at in range(30)]
    records += [a_detached("t", "terraform", "net", usd=100.0), a_detached("o", year=None, usd=0.5)]
    rows = RunTotals.add_up(records).summary()["detached"]
    assert [(row["owner"], row["made"], row["volumes"], row["monthly_usd"]) for row in rows] == [
        ("Terraform net", 2023, 1, 100.0),
        ("Kubernetes shop", 2023, 30, 30.0),
        ("by hand", None, 1, 0.5),
    ]


def test_many_volumes_are_few_rows_and_none_is_left_out_of_the_last():
    groups = {f"Terraform team-{at}": {"2023": [2, 200]} for at in range(MOST_ROWS + 9)}
    (table,) = cost_tables(a_run_record(**costs_summary({"detached": groups})))
    rows = table.rows
    assert len(rows) == MOST_ROWS + 1
    assert rows[-1] == ("9 more groups", "", "18 volumes", "$18.00 a month")


def test_a_run_of_before_has_no_rows():
    assert list(cost_tables(a_run_record(detached=[]))) == []
