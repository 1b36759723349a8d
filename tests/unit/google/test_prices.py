"""Prices: the Cloud Billing catalog's SKUs where they are complete, the dated file where they are not, else none."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import pytest
from google.cloud.billing_v1 import ListSkusResponse, Sku

from plimsoll.clouds.common.dated_data import shipped_prices, volume_types
from plimsoll.model.errors import BadCredentials
from plimsoll.model.market import PriceBook, TypePrice
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Target
from plimsoll_google.clients import Clients
from plimsoll_google.prices import GooglePrices, sku_prices
from tests.builders import NOW

TODAY = NOW.date()
IOWA = "us-central1"


def sku(description, *usd, unit="GiBy.mo", regions=(IOWA,), usage="OnDemand"):
    """A SKU of one region with these rates, each of the next tier."""
    rates = [
        {
            "start_usage_amount": 100 * tier,
            "unit_price": {"currency_code": "USD", "units": int(rate), "nanos": round(rate % 1 * 1e9)},
        }
        for tier, rate in enumerate(usd)
    ]
    return Sku(
        description=description,
        category={"resource_family": "Storage", "usage_type": usage},
        service_regions=regions,
        pricing_info=[{"pricing_expression": {"usage_unit": unit, "tiered_rates": rates}}],
    )


SKUS = (
    sku("Storage PD Capacity", 0.0, 0.04),
    sku("Balanced PD Capacity", 0.1, regions=(IOWA, "us-east1")),
    sku("SSD backed PD Capacity in Iowa", 0.17),
    sku("Extreme PD Capacity in Iowa", 0.125),
    sku("Extreme PD IOPS in Iowa", 0.065, unit="mo"),
    sku("Regional Balanced PD Capacity in Iowa", 0.2),
    sku("Hyperdisk Balanced Capacity in Iowa", 0.08),
    sku("Hyperdisk Balanced IOPS in Iowa", 0.005, unit="mo"),
    sku("Hyperdisk Balanced Throughput in Iowa", 0.04, unit="MiBy.mo"),
    sku("Hyperdisk Throughput Capacity in Iowa", 0.005),
    sku("Hyperdisk Throughput Throughput Capacity in Iowa", 0.000342466, unit="MiBy.h"),
)

DECOYS = (
    sku("Balanced PD Capacity in Iowa", 0.03, usage="Preemptible"),
    sku("Hyperdisk Balanced IOPS in Iowa - Confidential Mode", 0.001, unit="mo"),
    sku("Hyperdisk Balanced Storage Pools Standard Capacity in Iowa", 0.07),
    sku("Commitment v1: Local SSD in Iowa for 1 Year", 0.05),
    sku("SSD backed Local Storage in Iowa", 0.08),
    sku("Storage PD Snapshot in Iowa", 0.05),
    sku("Storage PD Capacity in Iowa", 0.0),
    sku("Balanced PD Capacity in Iowa", 0.9, unit="count"),
    Sku(description="SSD backed PD Capacity in Iowa", service_regions=[IOWA]),
)


@dataclass
class Catalog:
    """A catalog that answers a few SKUs a page, or refuses."""

    skus: tuple[Sku, ...]
    status: int = 200
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    page: int = 4

    def answer(self, path):
        parts = urlparse(path)
        assert parts.path == "/v1/services/6F81-5844-456A/skus"
        query = parse_qs(parts.query)
        self.asked.append(query)
        if self.status != 200:
            return {"error": {"code": self.status, "message": "no", "status": "PERMISSION_DENIED"}}
        begin = int(query.get("pageToken", ["0"])[0])
        end = begin + self.page
        page = ListSkusResponse(skus=self.skus[begin:end], next_page_token=str(end) if end < len(self.skus) else "")
        return json.loads(ListSkusResponse.to_json(page))


@contextmanager
def served(catalog):
    """Clients of that catalog on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(catalog.answer(self.path)).encode()
            self.send_response(catalog.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_told):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        clients = Clients(url=f"http://127.0.0.1:{server.server_port}", attempts=1)
        yield clients
        clients.close()
        server.shutdown()
        thread.join()


def prices(clients):
    return GooglePrices(shipped=shipped_prices("google"), clients=clients, today=TODAY)


def from_the_file(book, why):
    """Whether a book is the shipped one, with the reason why it is not the catalog's."""
    return replace(book, notice="") == shipped_prices("google").book(book.region) and why in book.notice


def at(region):
    return Target(account="a-project", region=region, provider="google")


def test_a_complete_catalog_is_the_book_of_today_and_is_read_once_for_all_regions():
    catalog = Catalog(skus=(*DECOYS, *SKUS, *DECOYS))
    with served(catalog) as clients:
        all_regions = prices(clients)
        found = all_regions.book(at(IOWA))
        pages = len(catalog.asked)
        assert (found.source, found.as_of) == ("Cloud Billing Catalog API", TODAY)
        assert from_the_file(all_regions.book(at("europe-west1")), "lacks pd-standard, pd-balanced")
    assert pages == len(catalog.asked) > 1
    assert catalog.asked[0]["currencyCode"] == ["USD"]


def test_every_part_of_a_price_comes_from_its_sku():
    found = sku_prices((*DECOYS, *SKUS, *DECOYS))
    assert found["us-east1"] == {"pd-balanced": TypePrice(gib_month=0.1)}
    iowa = found[IOWA]
    assert iowa["pd-standard"] == TypePrice(gib_month=0.04)
    assert iowa["regional-pd-balanced"] == TypePrice(gib_month=0.2)
    assert iowa["pd-extreme"] == TypePrice(gib_month=0.125, iops_tiers=((None, 0.065),))
    assert iowa["hyperdisk-balanced"] == shipped_prices("google").book(IOWA).types["hyperdisk-balanced"]


def test_a_price_by_the_hour_is_one_of_730_hours_a_month():
    assert sku_prices(SKUS)[IOWA]["hyperdisk-throughput"].throughput_mib_s_month == pytest.approx(0.25, rel=1e-5)


def test_a_type_without_a_part_of_its_price_has_none():
    found = sku_prices([one for one in SKUS if one.description != "Hyperdisk Balanced IOPS in Iowa"])
    assert "hyperdisk-balanced" not in found[IOWA]


@pytest.mark.parametrize("missing", ["Storage PD Capacity", "Hyperdisk Balanced Throughput in Iowa"])
def test_an_incomplete_catalog_gives_way_to_the_dated_file(missing):
    with served(Catalog(skus=tuple(one for one in SKUS if one.description != missing))) as clients:
        assert from_the_file(prices(clients).book(at(IOWA)), "the price catalog lacks")


def test_a_catalog_that_refuses_gives_way_to_the_dated_file_and_is_not_asked_again():
    catalog = Catalog(skus=SKUS, status=403)
    with served(catalog) as clients:
        refused = prices(clients)
        for region in (IOWA, "us-east1"):
            assert from_the_file(refused.book(at(region)), "cloudbilling.skus.list")
    assert len(catalog.asked) == 1


def test_prices_need_no_credentials():
    class NoCredentials(Clients):
        @property
        def catalog(self):
            raise BadCredentials("none")

    assert from_the_file(prices(NoCredentials()).book(at(IOWA)), "none")


def test_no_catalog_is_asked_without_clients_and_an_unknown_region_has_no_book():
    assert prices(None).book(at(IOWA)) == shipped_prices("google").book(IOWA)
    assert prices(None).book(at("mars-north1")) is None


@pytest.mark.parametrize(
    ("spec", "usd"),
    [
        (VolumeSpec(type="pd-ssd", size_gib=500), 85.0),
        (VolumeSpec(type="hyperdisk-balanced", size_gib=500, iops=3000, throughput_mib_s=140), 40.0),
        (VolumeSpec(type="hyperdisk-balanced", size_gib=500, iops=5000, throughput_mib_s=240), 40.0 + 10.0 + 4.0),
        (VolumeSpec(type="hyperdisk-throughput", size_gib=2048, throughput_mib_s=100), 10.24 + 25.0),
        (VolumeSpec(type="pd-extreme", size_gib=500, iops=10_000), 62.5 + 650.0),
    ],
)
def test_a_disk_in_iowa_costs_what_the_dated_file_says(spec, usd):
    assert shipped_prices("google").book(IOWA).usd_month(spec) == pytest.approx(usd)


def test_the_dated_file_prices_persistent_disks_wherever_they_are_listed_and_nothing_unsourced():
    book = shipped_prices("google")
    for region in book.regions:
        types = book.book(region).types
        assert {"pd-standard", "pd-balanced", "pd-ssd"} <= set(types) <= set(volume_types("google"))
        assert types["pd-standard"].gib_month < types["pd-balanced"].gib_month < types["pd-ssd"].gib_month
        assert "hyperdisk-balanced" in types or region != IOWA
    assert (date.today() - book.verified_on).days < 365, "hold data/prices.yaml against its sources"  # noqa: DTZ011


def test_a_book_prices_in_dollars_what_was_bought():
    book = PriceBook(region=IOWA, source="", as_of=None, types=sku_prices(SKUS)[IOWA])
    spec = VolumeSpec(type="hyperdisk-balanced", size_gib=100, iops=4000, throughput_mib_s=140)
    assert book.usd_month(spec) == pytest.approx(8.0 + 5.0)
