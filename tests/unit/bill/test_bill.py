"""Bills of every layout: each row has its place or is named, currencies stay apart, and sums are exact to the cent."""

import csv
import shutil
from collections import Counter
from datetime import date
from pathlib import Path

import duckdb
import pytest

from cloud_simulator.aws.bills import Charge, hours_of, write_bill
from plimsoll.model.errors import BadInput
from plimsoll_bill.api import read_bill, read_costs
from plimsoll_bill.bill import open_bill
from plimsoll_bill.meters import Meter, meter_of
from plimsoll_bill.sources import find_files

SAMPLE = Path(__file__).with_name("focus-1.0-sample.csv")
FEBRUARY, OCTOBER = date(2026, 2, 1), date(2026, 10, 1)
TITLES = {"General Purpose SSD (gp2)": "gp2", "General Purpose (gp3)": "gp3", "Magnetic": "standard"}


def a_charge(usage_type="EBS:VolumeUsage.gp3", monthly=100.0, price=0.08, **fields):
    whole = {"account": "1", "region": "us-east-1", "resource": "vol-1", "unit": "GB-Mo", "to_hour": hours_of(OCTOBER)}
    return Charge(usage_type=usage_type, monthly=monthly, price=price, **{**whole, **fields})


def a_bill(folder, *charges, month=OCTOBER, name="bill.parquet", **options):
    write_bill(charges, month, folder / name, **options)
    return str(folder / name)


def edit_csv(path, change):
    """A bill's CSV with a line more for each that `change` makes of its first."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        written = csv.DictWriter(file, list(lines[0]))
        written.writeheader()
        written.writerows([*lines, {**lines[0], **change}])
    return path


def test_every_row_of_a_real_bill_has_its_place_or_is_named():
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["ServiceCategory"] == "Storage"]
    ours = [row for row in rows if row["ServiceName"] == "Amazon Elastic Compute Cloud"]
    expected, costs = Counter(), Counter()
    for row in ours:
        words = row["ChargeDescription"]
        type_ = next((name for title, name in TITLES.items() if title in words), "gp3" if "of gp3" in words else "")
        dimension = next(
            name
            for text, name in (("napshot", "snapshot"), ("IOPS-", "iops"), ("MiBps-", "mib_s"), ("storage", "gib"))
            if text in words
        )
        expected[type_, dimension] += 1
        costs[type_, dimension] += float(row["BilledCost"])
    with read_bill([str(SAMPLE)]) as bill:
        sums = bill.sums("type", "dimension")
        checks, (unplaced,), (elsewhere,) = bill.checks(), bill.find_unplaced(), bill.other_rows()
        notes = " ".join(bill.notes)
    assert {of: money.rows for of, money in sums} == expected
    assert {of: money.total for of, money in sums} == pytest.approx(costs, abs=1e-9)
    assert checks["rows"] == len(ours) == checks["ghosts"] + checks["at_list"] == 65
    assert (checks["below_list"], checks["above_list"], checks["unpriced"]) == (0, 0, 0)
    assert (unplaced.provider, unplaced.text, unplaced.rows) == ("oracle", "Block Volume - Performance Units", 1)
    assert elsewhere[:2] == ("USD", 14)
    assert f" {checks['at_list'] + unplaced.rows} rows is 0" in notes


@pytest.mark.parametrize(
    ("usage_type", "meter"),
    [
        ("EBS:VolumeUsage.gp3", Meter("gib", "gp3")),
        ("EUW1-EBS:VolumeUsage.piops", Meter("gib", "io1")),
        ("UGW1-EBS:VolumeUsage", Meter("gib", "standard")),
        ("APN1-EBS:VolumeP-IOPS.io2.tier3", Meter("iops", "io2", 3)),
        ("EBS:VolumeP-Throughput.gp3", Meter("mib_s", "gp3", scale=1024.0)),
        ("EBS:VolumeIOUsage", Meter("io", "standard", scale=1e-6)),
        ("EBS:SnapshotUsage", Meter("snapshot")),
        ("EU-EBS:SnapshotArchiveEarlyDelete", Meter("archive_early")),
        ("EBS:FastSnapshotRestore", Meter("fast_restore")),
        ("EBS:directAPI.snapshot.List", Meter("requests", scale=1e-3)),
        ("USE1-BOS1-EBS:VolumeUsage.gp3", Meter("gib", "gp3", apart="a Local Zone")),
        ("EBS:VolumeUsage.gp2.outposts", Meter("gib", "gp2", apart="an Outpost")),
        ("EBS:SnapshotUsage.outposts", Meter("snapshot", apart="an Outpost")),
        ("EBS:VolumeUsage.gp9", None),
        ("EBS:VolumeNovelty.gp3", None),
        ("EBSOptimized:m5.large", None),
    ],
)
def test_a_usage_type_says_what_is_counted(usage_type, meter):
    unit = "GiBps-mo" if "Throughput" in usage_type else "IOs"
    assert meter_of("aws", usage_type, "", unit, 1e-7) == meter


@pytest.mark.parametrize(
    ("description", "meter"),
    [
        (
            "$0.045 per GB-month of Throughput Optimized HDD (st1) provisioned storage - EU (Ireland)",
            Meter("gib", "st1"),
        ),
        ("$0.125 per GB-month of Provisioned IOPS SSD (io2) provisioned storage", Meter("gib", "io2")),
        ("$0.138 per GB-month of PIOPS (SSD) provisioned storage", Meter("gib", "io1")),
        ("$0.072 per IOPS-month provisioned - EU (Ireland)", Meter("iops", "io1")),
        ("$0.072 per IOPS-month provisioned (io2) - US West", Meter("iops", "io2")),
        ("$0.0476 per provisioned MiBps-month of gp3 - EU (Frankfurt)", Meter("mib_s", "gp3", scale=1024.0)),
        ("$0.05 per 1 million I/O requests - US East", Meter("io", "standard", scale=1e-6)),
        ("USD0.0595 per GB-Mo for EBS:SnapshotUsage in Africa (Cape Town)", Meter("snapshot")),
        ("USD0.1047 per GB-Mo for AFS1-EBS:VolumeUsage.gp3 in Africa (Cape Town)", Meter("gib", "gp3")),
        ("$0.05 per GB-Month of snapshot data stored - US West", Meter("snapshot")),
        ("$0.01375 per GB-Month of snapshot archive data stored - Asia Pacific (Sydney)", Meter("archive")),
        ("$0.03 per GB of snapshot archive data retrieved", Meter("archive_read")),
        ("$0.34 per On Demand Linux c5.2xlarge Instance Hour", None),
    ],
)
def test_a_description_says_what_is_counted_where_there_is_no_usage_type(description, meter):
    unit = "GiB/Second-Months" if "MiBps" in description else "IOs"
    assert meter_of("aws", "", description, unit, 1e-7) == meter


@pytest.mark.parametrize(
    ("description", "meter"),
    [
        ("Balanced PD Capacity in Iowa", Meter("gib", "pd-balanced")),
        ("Regional SSD backed PD Capacity", Meter("gib", "regional-pd-ssd")),
        ("Hyperdisk Throughput Throughput Capacity in Iowa", Meter("mib_s", "hyperdisk-throughput")),
        ("Hyperdisk Balanced IOPS", Meter("iops", "hyperdisk-balanced")),
        ("Storage PD Snapshot in Iowa", Meter("snapshot")),
        ("N2 Instance Core running in Iowa", None),
    ],
)
def test_googles_descriptions_say_what_is_counted(description, meter):
    assert meter_of("google", "", description, "gibibyte month", None) == meter


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("map.parquet", {"discounts": "map"}),
        ("map.csv", {"discounts": "map"}),
        ("net.parquet", {"discounts": "net"}),
        ("lines.csv", {"discounts": "lines"}),
        ("focus.parquet", {"layout": "focus"}),
        ("focus.csv", {"layout": "focus"}),
    ],
)
def test_each_layout_tells_the_same_money_before_and_after_discounts(tmp_path, name, options):
    charges = [
        a_charge(),
        a_charge("EBS:VolumeP-IOPS.gp3", 9000, 0.005, unit="IOPS-Mo", discount_pct=12.0),
        a_charge("EBS:VolumeP-Throughput.gp3", 0.25, 40.96, unit="GiBps-mo"),
    ]
    with read_bill([a_bill(tmp_path, *charges, name=name, **options)]) as bill:
        sums = {of[0]: money for of, money in bill.sums("dimension")}
        assert not bill.find_unplaced()
    assert {name: round(money.list, 6) for name, money in sums.items()} == {"gib": 8.0, "iops": 45.0, "mib_s": 10.24}
    assert {name: round(money.net, 6) for name, money in sums.items()} == {"gib": 8.0, "iops": 39.6, "mib_s": 10.24}
    assert {name: round(money.quantity, 4) for name, money in sums.items()} == {"gib": 100, "iops": 9000, "mib_s": 256}


def test_a_credit_that_covers_the_month_is_no_part_of_the_rate(tmp_path):
    path = a_bill(tmp_path, a_charge(), name="credit.csv", discounts="net")
    given = {"line_item_line_item_type": "Credit", "line_item_unblended_cost": "-8.0", "line_item_usage_amount": "0"}
    edit_csv(path, {**given, "line_item_net_unblended_cost": "-8.0"})
    with read_bill([path]) as bill:
        ((_, money),) = bill.sums("currency")
    assert (round(money.net, 4), round(money.credits, 4), round(money.total, 4)) == (8.0, -8.0, 0.0)


def test_currencies_are_two_sums(tmp_path):
    dollars = a_bill(tmp_path, a_charge(), name="dollars.parquet")
    renminbi = a_bill(tmp_path, a_charge(price=0.5, region="cn-northwest-1"), name="renminbi.parquet", currency="CNY")
    with read_bill([dollars, renminbi]) as bill:
        assert {of[0]: round(money.total, 4) for of, money in bill.sums("currency")} == {"USD": 8.0, "CNY": 50.0}


def test_what_cannot_be_placed_is_named_and_in_no_sum(tmp_path):
    path = a_bill(tmp_path, a_charge(), a_charge("EBS:VolumeNovelty.gp3"), name="novel.csv", layout="focus")
    edit_csv(path, {"BilledCost": "", "EffectiveCost": ""})
    with read_bill([path]) as bill:
        named = {(entry.text, entry.rows, entry.cost is None) for entry in bill.find_unplaced()}
        ((_, money),) = bill.sums("currency")
    assert named == {("EBS:VolumeNovelty.gp3", hours_of(OCTOBER), False), ("EBS:VolumeUsage.gp3", 1, True)}
    assert round(money.total, 4) == 8.0


def test_the_newest_execution_of_a_month_counts_alone(tmp_path):
    for execution, monthly in (("2026-11-01T00-aa", 50.0), ("2026-11-02T00-bb", 100.0)):
        folder = tmp_path / "data" / "BILLING_PERIOD=2026-10" / execution
        folder.mkdir(parents=True)
        a_bill(folder, a_charge(monthly=monthly))
    (tmp_path / "data" / "manifest.json").write_text("{}")
    with read_bill([str(tmp_path)]) as bill:
        ((_, money),) = bill.sums("currency")
    assert round(money.total, 4) == 8.0


def test_versions_of_a_month_without_a_date_are_not_added_up(tmp_path):
    for version in ("1f", "2e"):
        folder = tmp_path / "20261001-20261101" / version
        folder.mkdir(parents=True)
        a_bill(folder, a_charge())
    with pytest.raises(BadInput, match="20261001-20261101"), read_bill([str(tmp_path)]):
        pass


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "", "not a bill"])
def test_what_is_no_bill_is_refused_by_its_name(tmp_path, content):
    path = tmp_path / "other.csv"
    path.write_text(content)
    with pytest.raises(BadInput, match=r"other\.csv"), read_bill([str(path)]):
        pass


def test_a_detailed_export_of_google_is_read_with_its_credits_apart(tmp_path):
    out = tmp_path / "bill [1].parquet"
    sku = "{'id': 'S', 'description': 'Balanced PD Capacity in Iowa'}"
    with duckdb.connect() as database:
        database.execute(
            f"""copy (
                select {{'id': 'C', 'description': 'Compute Engine'}} as service, {sku} as sku,
                    {{'id': 'p-1'}} as project, {{'region': 'us-central1'}} as location,
                    {{'name': null::varchar, 'global_name': '//compute.googleapis.com/p-1/disks/d-1'}} as resource,
                    {{'amount_in_pricing_units': 100.0, 'pricing_unit': 'gibibyte month'}} as usage,
                    timestamp '2026-10-01' as usage_start_time, timestamp '2026-11-01' as usage_end_time,
                    {{'month': '202610'}} as invoice, 'regular' as cost_type, 'USD' as currency, 10.0 as cost,
                    [{{'type': 'DISCOUNT', 'amount': -1.0}}, {{'type': 'PROMOTION', 'amount': -4.0}}] as credits
            ) to '{tmp_path / "plain.parquet"}'"""
        )
    (tmp_path / "plain.parquet").rename(out)
    with read_bill([str(out)]) as bill:
        ((of, money),) = bill.sums("provider", "account", "region", "type", "dimension", "volume", "month")
    assert of == ("google", "p-1", "us-central1", "pd-balanced", "gib", "d-1", OCTOBER)
    assert (money.quantity, money.net, money.credits, money.total) == (100.0, 9.0, -4.0, 5.0)


def test_a_bill_in_s3_is_read_object_by_object(tmp_path):
    a_bill(tmp_path, a_charge())
    taken = []

    class Bucket:
        def list_objects_v2(self, **_asked):
            keys = ("cur/data/BILLING_PERIOD=2026-10/a.parquet", "cur/metadata/manifest.json")
            return {"KeyCount": 2, "IsTruncated": False, "Contents": [{"Key": key, "Size": 1} for key in keys]}

        def download_file(self, bucket, key, to):
            taken.append((bucket, key))
            shutil.copy(tmp_path / "bill.parquet", to)

    with open_bill(find_files("s3://bills/cur", Bucket())) as bill:
        ((_, money),) = bill.sums("currency")
    assert taken == [("bills", "cur/data/BILLING_PERIOD=2026-10/a.parquet")]
    assert round(money.total, 4) == 8.0


def test_the_present_costs_are_those_of_the_newest_month(tmp_path):
    earlier = date(2026, 9, 1)
    a_bill(tmp_path, a_charge(monthly=500.0, to_hour=hours_of(earlier)), month=earlier, name="september.parquet")
    a_bill(tmp_path, a_charge(), a_charge(resource="vol-2", monthly=50.0), name="october.parquet")
    costs = read_costs([str(tmp_path / "september.parquet"), str(tmp_path / "october.parquet")])
    assert costs == {"vol-1": pytest.approx(8.0), "vol-2": pytest.approx(4.0)}
