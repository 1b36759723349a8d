"""Prices: the Price List API's rows where they are complete, the dated file where they are not, else none."""

import json
import re
from dataclasses import replace
from datetime import date

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from plimsoll.clouds.aws.prices import AwsPrices, row_in
from plimsoll.clouds.aws.prices import prices_in as prices_in_rows
from plimsoll.clouds.common.dated_data import load_prices, published_limits, shipped_prices
from plimsoll.model.errors import AccessDenied, BadInput
from plimsoll.model.market import PriceBook, TypePrice
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Target
from tests.builders import NOW

TODAY = NOW.date()
US_EAST_1 = Target(account="111122223333", region="us-east-1")

# facts.md, section 1.2: usage type, product family, unit, USD, beginning of its range.
FACTS = [
    ("EBS:VolumeUsage.gp2", "Storage", "GB-Mo", 0.10, 0),
    ("EBS:VolumeUsage.gp3", "Storage", "GB-Mo", 0.08, 0),
    ("EBS:VolumeUsage.io2", "Storage", "GB-month", 0.125, 0),
    ("EBS:VolumeUsage.piops", "Storage", "GB-Mo", 0.125, 0),
    ("EBS:VolumeUsage", "Storage", "GB-Mo", 0.05, 0),
    ("EBS:VolumeUsage.st1", "Storage", "GB-Mo", 0.045, 0),
    ("EBS:VolumeUsage.sc1", "Storage", "GB-Mo", 0.015, 0),
    ("EBS:VolumeIOUsage", "System Operation", "IOs", 0.00000005, 0),
    ("EBS:VolumeP-IOPS.gp3", "System Operation", "IOPS-Mo", 0.005, 3000),
    ("EBS:VolumeP-IOPS.io2", "System Operation", "IOPS-Mo", 0.065, 0),
    ("EBS:VolumeP-IOPS.io2.tier2", "System Operation", "IOPS-Mo", 0.0455, 0),
    ("EBS:VolumeP-IOPS.io2.tier3", "System Operation", "IOPS-Mo", 0.03185, 0),
    ("EBS:VolumeP-IOPS.piops", "System Operation", "IOPS-Mo", 0.065, 0),
    ("EBS:VolumeP-Throughput.gp3", "Provisioned Throughput", "GiBps-mo", 40.96, 0),
    ("EBS:SnapshotUsage", "Storage Snapshot", "GB-Mo", 0.05, 0),
]


def row(usagetype, family, unit, usd, begin=0, *, location="AWS Region", term="OnDemand"):
    dimension = {"unit": unit, "beginRange": str(begin), "endRange": "Inf", "pricePerUnit": {"USD": f"{usd:.10f}"}}
    return {
        "product": {
            "productFamily": family,
            "attributes": {"usagetype": usagetype, "locationType": location},
        },
        "terms": {term: {"sku.term": {"priceDimensions": {"sku.term.dimension": dimension}}}},
    }


def prices_in(found):
    return prices_in_rows(row_in(json.dumps(one), "here") for one in found)


def rows(*, without=(), prefix=""):
    return [row(prefix + usage, *rest) for usage, *rest in FACTS if usage not in without]


DECOYS = [
    row("USE1-BOS1-EBS:VolumeUsage.gp3", "Storage", "GB-Mo", 0.096, location="AWS Local Zone"),
    row("EBS:VolumeUsage.gp3", "Storage", "GB-Mo", 0.04, term="Reserved"),
    row("EBS:SnapshotArchiveStorage", "Storage Snapshot", "GB-Mo", 0.0125),
    row("BoxUsage:m5.large", "Compute Instance", "Hrs", 0.096),
    row("USE1-NotEBS:VolumeUsage.gp3", "Storage", "GB-Mo", 0.7),
    row("EBSOptimized:m1.large", "Storage", "Hrs", 0.025),
]


class PriceList:
    """Sessions whose Price List API answers with these rows by product family, a row a page, or refuses."""

    def __init__(self, found=(), error=None):
        self.found = [one if isinstance(one, str) else json.dumps(one) for one in found]
        self.error = error

    def client(self, *_place):
        return self

    def get_products(self, *, ServiceCode, Filters, NextToken="0"):  # noqa: N803  # boto3's names
        if self.error:
            raise self.error
        family = next(part["Value"] for part in Filters if part["Field"] == "productFamily")
        rows = [one for one in self.found if family in one or not one.startswith("{")]
        place = int(NextToken)
        more = {"NextToken": str(place + 1)} if place + 1 < len(rows) else {}
        return {"PriceList": rows[place : place + 1], **more}


def book(sessions, target=US_EAST_1, **fields):
    return AwsPrices(shipped=shipped_prices("aws"), sessions=sessions, today=TODAY, **fields).book(target)


def test_a_complete_list_is_the_book_of_today():
    found = book(PriceList([*DECOYS, *rows(), *DECOYS]))
    assert (found.source, found.as_of) == ("AWS Price List API", TODAY)
    assert set(found.types) == {"gp2", "gp3", "io1", "io2", "st1", "sc1", "standard"}
    assert not found.unlisted


@pytest.mark.parametrize("prefix", ["", "APN1-", "USE1-", "EU-"])
def test_figures_of_facts_come_back_whatever_the_regions_prefix(prefix):
    found = prices_in([*DECOYS, *rows(prefix=prefix), *DECOYS])
    assert found["gp2"] == TypePrice(gib_month=0.10)
    gp3 = found["gp3"]
    assert (gp3.gib_month, gp3.iops_tiers, gp3.included_iops) == (0.08, ((None, 0.005),), 3000)
    assert (gp3.throughput_mib_s_month, gp3.included_throughput_mib_s) == (pytest.approx(0.04), 125)
    assert found["io1"] == TypePrice(gib_month=0.125, iops_tiers=((None, 0.065),))
    assert found["io2"].iops_tiers == ((32_000, 0.065), (64_000, 0.0455), (None, 0.03185))
    assert found["standard"].million_io == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("spec", "usd"),
    [
        (VolumeSpec(type="gp3", size_gib=500, iops=3000, throughput_mib_s=125), 40.0),
        (VolumeSpec(type="gp3", size_gib=500, iops=4000, throughput_mib_s=250), 40.0 + 5.0 + 5.0),
        (VolumeSpec(type="io1", size_gib=100, iops=1000), 12.5 + 65.0),
        (VolumeSpec(type="io2", size_gib=100, iops=70_000), 12.5 + 2080.0 + 1456.0 + 191.1),
    ],
)
def test_a_spec_costs_what_the_rows_say(spec, usd):
    assert PriceBook(region="x", source="", as_of=None, types=prices_in(rows())).usd_month(spec) == pytest.approx(usd)


def test_discounts_are_taken_off_by_type_or_for_all():
    spec = VolumeSpec(type="gp2", size_gib=100)
    for discounts, usd in (({}, 10), ({"gp2": 25}, 7.5), ({"*": 10}, 9), ({"*": 10, "gp2": 50}, 5), ({"gp3": 9}, 10)):
        found = PriceBook(region="x", source="", as_of=None, types=prices_in(rows()), discounts_pct=discounts)
        assert found.usd_month(spec) == pytest.approx(usd)


def test_throughput_by_the_mib_is_not_divided():
    found = prices_in(
        [row("EBS:VolumeUsage.gp3", "", "GB-Mo", 0.08), row("EBS:VolumeP-Throughput.gp3", "", "MiBps-Mo", 0.04)]
    )
    assert found["gp3"].throughput_mib_s_month == pytest.approx(0.04)


@pytest.mark.parametrize(
    "missing",
    [
        ("EBS:VolumeUsage.gp2",),
        ("EBS:VolumeUsage.gp3",),
        ("EBS:VolumeP-IOPS.gp3",),
        ("EBS:VolumeP-Throughput.gp3",),
        ("EBS:VolumeP-IOPS.piops",),
        ("EBS:VolumeP-IOPS.io2", "EBS:VolumeP-IOPS.io2.tier2", "EBS:VolumeP-IOPS.io2.tier3"),
        tuple(usage for usage, *_ in FACTS),
    ],
)
def test_an_incomplete_list_falls_back_to_the_file(missing):
    assert book(PriceList(rows(without=missing))) == shipped_prices("aws").book("us-east-1")


@pytest.mark.parametrize("tier", ["", ".tier2", ".tier3"])
def test_a_list_without_one_of_io2s_tiers_falls_back_to_the_file(tier):
    missing = (f"EBS:VolumeP-IOPS.io2{tier}",)
    assert book(PriceList(rows(without=missing))) == shipped_prices("aws").book("us-east-1")


def test_a_list_with_one_later_tier_alone_falls_back_to_the_file():
    missing = ("EBS:VolumeP-IOPS.io2", "EBS:VolumeP-IOPS.io2.tier3")
    assert book(PriceList(rows(without=missing))) == shipped_prices("aws").book("us-east-1")


ROWS_OF_FEW = {
    "EBS:VolumeUsage.st1": "st1",
    "EBS:VolumeUsage.sc1": "sc1",
    "EBS:VolumeUsage": "standard",
    "EBS:VolumeIOUsage": "standard",
}


@pytest.mark.parametrize("usage", ROWS_OF_FEW)
def test_what_a_list_lacks_of_types_that_few_use_is_of_the_file_and_named(usage):
    whole, found = (book(PriceList(rows(without=without))) for without in ((), (usage,)))
    assert (found.source, found.as_of, set(found.types)) == (whole.source, whole.as_of, set(whole.types))
    for kind in whole.types:
        spec = VolumeSpec(type=kind, size_gib=500, iops=5000, throughput_mib_s=200)
        cost, wanted = (one.usd_month(spec, mean_iops=100) for one in (found, whole))
        assert cost == pytest.approx(wanted)
    assert f"the price list of us-east-1 lacks {ROWS_OF_FEW[usage]}: " in found.unlisted
    assert "2026-09-30" in found.unlisted


def test_what_a_list_lacks_once_costs_nothing():
    asked = []

    class Flaky(PriceList):
        def client(self, *_place):
            return self

        def get_products(self, *, ServiceCode, Filters, NextToken="0"):  # noqa: N803  # boto3's names
            asked.append(NextToken)
            self.found = [json.dumps(one) for one in rows(without=("EBS:VolumeUsage.st1",) if len(asked) < 9 else ())]
            return PriceList.get_products(self, ServiceCode=ServiceCode, Filters=Filters, NextToken=NextToken)

    assert book(Flaky()) == book(PriceList(rows()))
    assert asked.count("0") > 3


def test_without_a_file_for_its_region_a_list_needs_what_most_volumes_are_of_alone():
    elsewhere = Target(account="111122223333", region="mx-central-1")
    found = book(PriceList(rows(without=("EBS:VolumeUsage.st1", "EBS:VolumeUsage.sc1"))), elsewhere)
    assert set(found.types) == {"gp2", "gp3", "io1", "io2", "standard"}
    assert not found.unlisted


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "GetProducts"),
        EndpointConnectionError(endpoint_url="https://api.pricing.us-east-1.amazonaws.com"),
    ],
)
def test_a_list_that_cannot_be_read_falls_back_to_the_file_which_says_so(error):
    found = book(PriceList(error=error))
    assert replace(found, unlisted="") == shipped_prices("aws").book("us-east-1")
    assert "pricing:GetProducts" in found.unlisted


GARBLED = [
    "not json",
    "[]",
    "null",
    '{"product": {"productFamily": "Storage"}}',
    json.dumps({**rows()[0], "terms": {"OnDemand": {"x": {}}}}),
]


@pytest.mark.parametrize("row", [*GARBLED, json.dumps(row("EBS:VolumeUsage.gp2", "Storage", "GB-Mo", -0.1))])
def test_a_garbled_list_falls_back_to_the_file_which_says_so(row):
    found = book(PriceList([*rows(), row]))
    assert replace(found, unlisted="") == shipped_prices("aws").book("us-east-1")
    assert "pricing:GetProducts" in found.unlisted


def test_a_region_with_neither_a_readable_list_nor_shipped_prices_says_why():
    nowhere = Target(account="111122223333", region="mx-central-1")
    with pytest.raises(AccessDenied, match="pricing:GetProducts"):
        book(PriceList(error=ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetProducts")), nowhere)


def test_an_account_that_may_not_read_prices_costs_no_other_account_its_list():
    class ByAccount:
        def client(self, _service, account, _region):
            denied = ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetProducts")
            return PriceList(error=denied) if account == US_EAST_1.account else PriceList(rows())

    prices = AwsPrices(shipped=shipped_prices("aws"), sessions=ByAccount(), today=TODAY)
    assert prices.book(US_EAST_1).unlisted
    assert prices.book(replace(US_EAST_1, account="222233334444")).source == "AWS Price List API"


def in_yuan(found):
    """The same rows, as the list of a region in China has them."""
    text = json.dumps(found).replace('"USD"', '"CNY"')
    return json.loads(text)


def test_a_list_in_another_currency_is_a_book_without_a_price_that_names_it():
    ningxia = Target(account="111122223333", region="cn-northwest-1")
    found = book(PriceList(in_yuan(rows(prefix="CNW1-"))), ningxia)
    assert (found.types, found.currency) == ({}, "CNY")
    assert found.usd_month(VolumeSpec(type="gp2", size_gib=500)) is None


def test_dollars_among_other_currencies_are_dollars():
    both = [*rows(), *in_yuan(rows())]
    assert book(PriceList(both)).usd_month(VolumeSpec(type="gp2", size_gib=500)) == pytest.approx(50.0)


def test_the_rows_of_govcloud_are_prices():
    assert prices_in(rows(prefix="UGW1-")) == prices_in(rows())


def test_govcloud_has_no_price_list_of_its_own_to_ask():
    govcloud = Target(account="111122223333", region="us-gov-west-1")
    refuses = ClientError({"Error": {"Code": "UnrecognizedClientException"}}, "GetProducts")
    assert book(PriceList(error=refuses), govcloud) == shipped_prices("aws").book("us-gov-west-1")


def test_without_sessions_the_file_alone_is_asked():
    assert book(None) == shipped_prices("aws").book("us-east-1")


def test_a_region_without_a_price_has_none():
    nowhere = Target(account="111122223333", region="mx-central-1")
    assert book(None, nowhere) is None
    assert book(PriceList(), nowhere) is None


def test_the_file_and_the_list_agree_on_us_east_1():
    shipped, listed = shipped_prices("aws").book("us-east-1"), prices_in(rows())
    for name, price in listed.items():
        for size, iops, throughput in ((100, None, None), (500, 5000, 300), (1000, 90_000, 1000)):
            spec = VolumeSpec(type=name, size_gib=size, iops=iops, throughput_mib_s=throughput)
            assert shipped.usd_month(spec, mean_iops=3) == pytest.approx(price.usd_month(spec, mean_iops=3))


def test_shipped_figures_are_under_a_year_old_today():
    today = date.today()  # noqa: DTZ011  # days are all that is compared
    assert (today - published_limits("aws").verified_on).days < 365, "hold data/types.yaml against its sources again"
    assert (today - shipped_prices("aws").verified_on).days < 365, "hold data/prices.yaml against its sources again"


def test_every_shipped_region_prices_gp2_and_gp3_with_what_gp3_includes():
    for region in shipped_prices("aws").regions:
        types = shipped_prices("aws").book(region).types
        assert types["gp2"].gib_month > types["gp3"].gib_month > 0, region
        assert (types["gp3"].included_iops, types["gp3"].included_throughput_mib_s) == (3000, 125), region


HEAD = "verified_on: 2026-11-20\nsources: {list: {what: a list, where: here, as_of: 2026-11-20}}\n"


def test_a_users_file_gives_its_prices(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text(f"{HEAD}regions: {{eu-west-9: {{source: list, gp2: {{gib_month: 0.2}}}}}}", encoding="utf-8")
    found = load_prices(path).book("eu-west-9")
    assert found.usd_month(VolumeSpec(type="gp2", size_gib=10)) == pytest.approx(2)
    assert found.usd_month(VolumeSpec(type="gp3", size_gib=10)) is None
    assert (found.source, found.as_of) == ("a list (here)", date(2026, 11, 20))
    assert load_prices(path).book("us-east-1") is None


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "the whole file"),
        ("regions: [", "not YAML"),
        (f"{HEAD}regions: {{x: {{source: nowhere}}}}", "nowhere, which is not under sources"),
        (f"{HEAD}regions: {{x: {{gp2: {{gib_month: 1}}}}}}", "regions.x.source"),
        (f"{HEAD}regions: {{x: {{source: list, gp2: {{gib_month: 1, tier: 2}}}}}}", "regions.x.gp2.tier"),
        (f"{HEAD}regions: {{x: {{source: list, gp2: {{gib_month: -1}}}}}}", "regions.x.gp2.gib_month"),
        (f"{HEAD}regions: {{x: {{source: list, gp2: {{gib_month: cheap}}}}}}", "regions.x.gp2.gib_month"),
        (f"{HEAD}regions: {{}}\nowner: me", "owner"),
        (f"{HEAD}currency: EUR\nregions: {{}}", "currency"),
        ("verified_on: soon\nsources: {}\nregions: {}", "verified_on"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(tmp_path, text, where):
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(where)) as refused:
        load_prices(path)
    assert str(path) in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        load_prices(tmp_path / "missing.yaml")
    with pytest.raises(BadInput, match="cannot be read"):
        load_prices(tmp_path)
    binary = tmp_path / "prices.bin"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not YAML"):
        load_prices(binary)
