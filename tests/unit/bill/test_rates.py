"""Net rates and reconciliation: what a bill makes of prices, and how it stands beside a run's volumes."""

from datetime import date

import pytest
import yaml

from plimsoll.clouds.common.dated_data import load_prices, shipped_prices
from plimsoll.model.volume import VolumeSpec
from plimsoll_bill.api import net_price_file, read_bill
from plimsoll_bill.reconcile import billed_volumes
from tests.unit.bill.test_bill import FEBRUARY, OCTOBER, a_bill, a_charge, edit_csv

LISTED = shipped_prices("aws").book("us-east-1")


def prices_of(tmp_path, *bills):
    with read_bill(bills) as bill:
        text, notes = net_price_file(bill, "a bill")
    (tmp_path / "net.yaml").write_text(text, encoding="utf-8")
    return load_prices(tmp_path / "net.yaml"), notes


def test_a_discount_on_iops_alone_changes_their_rate_alone(tmp_path):
    charges = [a_charge(), a_charge("EBS:VolumeP-IOPS.gp3", 9000, 0.005, unit="IOPS-Mo", discount_pct=12.0)]
    file, notes = prices_of(tmp_path, a_bill(tmp_path, *charges))
    book = file.book("us-east-1")
    net, listed = book.types["gp3"], LISTED.types["gp3"]
    assert net.iops_tiers == ((None, pytest.approx(0.0044)),)
    assert (net.gib_month, net.throughput_mib_s_month) == (pytest.approx(0.08), listed.throughput_mib_s_month)
    assert (net.included_iops, net.included_throughput_mib_s) == (3000, 125)
    assert book.types["io2"] == LISTED.types["io2"]
    assert "gp3 (GiB, IOPS)" in book.source
    assert str(LISTED.as_of) in book.source
    assert book.as_of == date(2026, 10, 31)
    assert not notes
    elsewhere = file.book("eu-west-1")
    assert elsewhere.types == shipped_prices("aws").book("eu-west-1").types
    assert elsewhere.source.startswith("list price")


def test_tiers_of_io2_have_rates_of_their_own(tmp_path):
    tiers = [("EBS:VolumeP-IOPS.io2", 32000, 0.065, 10.0), ("EBS:VolumeP-IOPS.io2.tier2", 8000, 0.0455, 20.0)]
    charges = [a_charge(usage, iops, usd, discount_pct=pct, unit="IOPS-Mo") for usage, iops, usd, pct in tiers]
    file, _ = prices_of(tmp_path, a_bill(tmp_path, *charges))
    figures = [usd for _, usd in file.book("us-east-1").types["io2"].iops_tiers]
    assert figures == [pytest.approx(0.0585), pytest.approx(0.0364), LISTED.types["io2"].iops_tiers[2][1]]


def test_a_credit_for_all_of_it_leaves_the_rate(tmp_path):
    path = a_bill(tmp_path, a_charge(), name="credit.csv", discounts="net")
    edit_csv(
        path,
        {"line_item_line_item_type": "Credit", "line_item_unblended_cost": "-8", "line_item_net_unblended_cost": "-8"},
    )
    file, _ = prices_of(tmp_path, path)
    assert file.book("us-east-1").types["gp3"].gib_month == pytest.approx(0.08)


def test_local_zones_and_other_currencies_make_no_price_of_the_region(tmp_path):
    local = a_bill(tmp_path, a_charge(), a_charge("USE1-BOS1-EBS:VolumeUsage.gp3", price=0.096), name="a.parquet")
    china = a_bill(tmp_path, a_charge(price=0.5, region="cn-northwest-1"), name="b.parquet", currency="CNY")
    file, notes = prices_of(tmp_path, local, china)
    assert file.book("us-east-1").types["gp3"].gib_month == pytest.approx(0.08)
    assert file.book("cn-northwest-1") is None
    assert any("cn-northwest-1" in note and "CNY" in note for note in notes)


def test_a_type_whose_price_is_in_no_list_and_only_partly_billed_is_left_out(tmp_path):
    file, notes = prices_of(tmp_path, a_bill(tmp_path, a_charge(region="mx-central-1")))
    assert "gp3" not in file.book("mx-central-1").types
    assert any(note.startswith("gp3 in mx-central-1") for note in notes)


@pytest.mark.parametrize(
    ("month", "from_hour", "to_hour"), [(OCTOBER, 0, 744), (FEBRUARY, 0, 672), (OCTOBER, 700, 706)]
)
def test_a_volume_costs_a_month_what_its_hours_say_whatever_the_months_length(tmp_path, month, from_hour, to_hour):
    lived = {"from_hour": from_hour, "to_hour": to_hour}
    charges = [a_charge(monthly=500, **lived), a_charge("EBS:VolumeP-IOPS.gp3", 3000, 0.005, unit="IOPS-Mo", **lived)]
    with read_bill([a_bill(tmp_path, *charges, month=month)]) as bill:
        (volume,) = billed_volumes(bill, month)
        ((_, money),) = bill.sums("currency")
    spec = VolumeSpec(type="gp3", size_gib=500, iops=6000, throughput_mib_s=125)
    assert volume.list == pytest.approx(LISTED.usd_month(spec), abs=1e-4)
    assert volume.size_gib == pytest.approx(500, abs=1e-4)
    hours = 672 if month is FEBRUARY else 744
    assert money.net == pytest.approx(LISTED.usd_month(spec) * (to_hour - from_hour) / hours, abs=1e-4)


def test_a_volume_whose_storage_is_not_billed_is_no_volume_of_the_month(tmp_path):
    charges = [a_charge(), a_charge("EBS:VolumeP-IOPS.gp3", 3000, 0.005, unit="IOPS-Mo", resource="vol-2")]
    with read_bill([a_bill(tmp_path, *charges)]) as bill:
        assert [volume.key[2] for volume in billed_volumes(bill, OCTOBER)] == ["vol-1"]


def test_a_price_file_is_plain_yaml_in_the_format_of_price_files(tmp_path):
    with read_bill([a_bill(tmp_path, a_charge(discount_pct=5))]) as bill:
        text, _ = net_price_file(bill, "s3://bills")
    content = yaml.safe_load(text)
    assert content["regions"]["us-east-1"]["gp3"]["gib_month"] == pytest.approx(0.076)
    assert content["sources"]["us-east-1"]["where"] == "s3://bills"
