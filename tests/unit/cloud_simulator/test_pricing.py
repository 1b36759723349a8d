"""GetProducts: real shapes, decoys among them, and the figures of the shipped price file behind them."""

import json
from collections import Counter
from datetime import date

import pytest
from botocore.exceptions import ClientError

from plimsoll.clouds.aws.prices import AwsPrices, prices_in
from plimsoll.clouds.aws.shipped import shipped_prices
from plimsoll.ports import Target


@pytest.fixture(scope="module")
def pricing(account):
    return account.client("pricing")


def rows(pricing, **fields):
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in fields.items()]
    pages = pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=filters)
    return [json.loads(row) for page in pages for row in page["PriceList"]]


def only(pricing, **fields):
    """Unit, USD and beginning of the range of the only on-demand row in a region proper."""
    (row,) = [row for row in rows(pricing, locationType="AWS Region", **fields) if "OnDemand" in row["terms"]]
    (term,) = row["terms"]["OnDemand"].values()
    (price,) = term["priceDimensions"].values()
    return price["unit"], float(price["pricePerUnit"]["USD"]), price["beginRange"]


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_the_rows_read_back_are_the_shipped_prices(pricing, region):
    book = shipped_prices().book(region)
    found = prices_in(rows(pricing, regionCode=region))
    assert set(found) == set(book.types)
    for name, price in book.types.items():
        assert found[name].gib_month == pytest.approx(price.gib_month)
        assert found[name].throughput_mib_s_month == pytest.approx(price.throughput_mib_s_month)
        assert [usd for _, usd in found[name].iops_tiers] == pytest.approx([usd for _, usd in price.iops_tiers])


@pytest.mark.parametrize(
    ("usagetype", "expected"),
    [
        ("EBS:VolumeUsage.gp3", ("GB-Mo", 0.08, "0")),
        ("EBS:VolumeUsage.io2", ("GB-month", 0.125, "0")),
        ("EBS:VolumeUsage.piops", ("GB-Mo", 0.125, "0")),
        ("EBS:VolumeUsage", ("GB-Mo", 0.05, "0")),
        ("EBS:VolumeP-IOPS.gp3", ("IOPS-Mo", 0.005, "3000")),
        ("EBS:VolumeP-IOPS.piops", ("IOPS-Mo", 0.065, "0")),
        ("EBS:VolumeP-IOPS.io2.tier3", ("IOPS-Mo", 0.03185, "0")),
        ("EBS:VolumeP-Throughput.gp3", ("GiBps-mo", 40.96, "0")),
    ],
)
def test_rows_have_the_real_units_names_and_ranges(pricing, usagetype, expected):
    assert only(pricing, regionCode="us-east-1", usagetype=usagetype) == expected


def test_other_regions_carry_a_prefix(pricing):
    names = {row["product"]["attributes"]["usagetype"] for row in rows(pricing, regionCode="eu-west-1")}
    assert names
    assert all(name.startswith("EU-EBS:") for name in names)


def test_decoys_are_there(pricing):
    found = rows(pricing, regionCode="us-east-1", volumeApiName="gp3", productFamily="Storage")
    kinds = Counter((row["product"]["attributes"]["locationType"], *row["terms"]) for row in found)
    assert kinds == {("AWS Region", "OnDemand"): 1, ("AWS Region", "Reserved"): 1, ("AWS Local Zone", "OnDemand"): 1}


def test_pages_are_bounded_and_whole(pricing):
    filters = [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-east-1"}]
    whole = pricing.get_products(ServiceCode="AmazonEC2", Filters=filters)["PriceList"]
    pages = list(
        pricing.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2", Filters=filters, PaginationConfig={"PageSize": 4}
        )
    )
    assert [row for page in pages for row in page["PriceList"]] == whole
    assert max(len(page["PriceList"]) for page in pages) == 4


def test_a_region_without_prices_has_no_rows(pricing):
    assert rows(pricing, regionCode="ap-southeast-7") == []


def test_a_kind_of_filter_that_is_not_simulated_is_refused(pricing):
    with pytest.raises(ClientError, match="InvalidParameterException"):
        pricing.get_products(
            ServiceCode="AmazonEC2", Filters=[{"Type": "CONTAINS", "Field": "usagetype", "Value": "gp3"}]
        )


def test_the_audits_own_reader_believes_the_list(account):
    class OneAccount:
        def client(self, service, number, region):
            return account.client(service, account=number, region=region)

    prices = AwsPrices(shipped=shipped_prices(), sessions=OneAccount(), today=date(2026, 11, 20))
    assert prices.book(Target(account="111111111111", region="us-east-1")).source == "AWS Price List API"
