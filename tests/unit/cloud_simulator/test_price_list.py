"""GetProducts: real shapes, decoys among them, and the figures of the shipped price file behind them."""

import json
from collections import Counter

import pytest
from botocore.exceptions import ClientError

from plimsoll.clouds.aws.prices import prices_in, row_in
from plimsoll.clouds.common.dated_data import shipped_prices


@pytest.fixture(scope="module")
def pricing(account):
    return account.client("pricing")


def texts(pricing, **fields):
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in fields.items()]
    pages = pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=filters)
    return [text for page in pages for text in page["PriceList"]]


def rows(pricing, **fields):
    return [json.loads(text) for text in texts(pricing, **fields)]


def only(pricing, **fields):
    """Unit, USD and beginning of the range of the only on-demand row in a region proper."""
    (row,) = [row for row in rows(pricing, locationType="AWS Region", **fields) if "OnDemand" in row["terms"]]
    (term,) = row["terms"]["OnDemand"].values()
    (price,) = term["priceDimensions"].values()
    return price["unit"], float(price["pricePerUnit"]["USD"]), price["beginRange"]


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_the_rows_read_back_are_the_shipped_prices(pricing, region):
    book = shipped_prices("aws").book(region)
    found = prices_in(row_in(text, region) for text in texts(pricing, regionCode=region))
    assert set(found) == set(book.types)
    for name, price in book.types.items():
        assert found[name].gib_month == pytest.approx(price.gib_month)
        assert found[name].throughput_mib_s_month == pytest.approx(price.throughput_mib_s_month)
        assert [usd for _, usd in found[name].iops_tiers] == pytest.approx([usd for _, usd in price.iops_tiers])


def test_decoys_are_there(pricing):
    found = rows(pricing, regionCode="us-east-1", volumeApiName="gp3", productFamily="Storage")
    kinds = Counter((row["product"]["attributes"]["locationType"], *row["terms"]) for row in found)
    assert kinds == {("AWS Region", "OnDemand"): 1, ("AWS Region", "Reserved"): 1, ("AWS Local Zone", "OnDemand"): 1}


def test_a_kind_of_filter_that_is_not_simulated_is_refused(pricing):
    with pytest.raises(ClientError, match="InvalidParameterException"):
        pricing.get_products(
            ServiceCode="AmazonEC2", Filters=[{"Type": "CONTAINS", "Field": "usagetype", "Value": "gp3"}]
        )
