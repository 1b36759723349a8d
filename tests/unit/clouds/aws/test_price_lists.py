"""Price lists read anew, from recorded rows: whole types in dollars are a price file, the others are named."""

import yaml
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from cloud_simulator.aws.organization import fleet_of
from plimsoll.cli.main import app
from plimsoll.clouds.aws.price_lists import read_lists
from plimsoll.clouds.common.dated_data import load_prices, price_content, shipped_prices, written_price
from plimsoll.model.market import SnapshotPrices
from tests.builders import NOW
from tests.pipelines.organization_here import served_here
from tests.unit.clouds.aws.test_prices import DECOYS, TODAY, PriceList, in_yuan, row, rows

SHAPES = {name: price for book in shipped_prices("aws").books() for name, price in book.types.items()}
SNAPSHOTS = [
    row("EBS:SnapshotArchiveStorage", "Storage Snapshot", "GB-Mo", 0.0125),
    row("EBS:SnapshotArchiveRetrieval", "Storage Snapshot", "GB", 0.03),
    row("EBS:SnapshotUsage.outposts", "Storage Snapshot", "GB-Mo", 0.027),
    row("EBS:FastSnapshotRestore", "Fast Snapshot Restore", "hours", 0.75),
]
HERE = shipped_prices("aws").book("us-east-1")


def read(region, list_, tmp_path):
    """What is read of a region's list, the book of its price file, and the regions whose endpoint was asked."""
    asked = []
    lists = read_lists(lambda endpoint: asked.append(endpoint) or list_, [region], SHAPES, TODAY)
    (tmp_path / "prices.yaml").write_text(
        yaml.safe_dump(price_content(lists.dollar_books(), "here", TODAY)), encoding="utf-8"
    )
    return lists, load_prices(tmp_path / "prices.yaml").book(region), asked


def test_rows_of_govcloud_are_a_book_dollar_books_that_another_partition_answers(tmp_path):
    listed = PriceList([*DECOYS, *SNAPSHOTS, *rows(prefix="UGW1-")])
    lists, book, asked = read("us-gov-west-1", listed, tmp_path)
    assert asked == ["us-east-1"]
    assert book.types == HERE.types
    assert (book.as_of, lists.notes, lists.is_whole) == (TODAY, [], True)
    assert book.snapshots == HERE.snapshots


def test_prices_in_yuan_are_shown_as_themselves_and_are_in_no_file(tmp_path):
    lists, book, asked = read("cn-northwest-1", PriceList(in_yuan(rows(prefix="CNW1-"))), tmp_path)
    assert asked == ["cn-northwest-1"]
    assert book is None
    prices = lists.books["cn-northwest-1"]
    assert prices.currency == "CNY"
    assert {name: written_price(price) for name, price in prices.types.items()} == {
        name: written_price(price) for name, price in HERE.types.items()
    }
    assert lists.is_whole


def test_a_type_without_all_of_its_price_is_left_out_and_named(tmp_path):
    lists, book, _ = read("us-east-1", PriceList(rows(without={"EBS:VolumeP-IOPS.io2.tier2"})), tmp_path)
    assert set(HERE.types) - set(book.types) == {"io2"}
    assert len([note for note in lists.notes if "io2" in note]) == 1


def test_the_command_refreshes_types_and_snapshots_of_every_region_that_ships(tmp_path):
    out = tmp_path / "prices.yaml"
    with served_here(fleet_of(1, NOW)):
        done = CliRunner().invoke(app, ["prices", "--out", str(out), "--region", "us-east-1,eu-central-2"])
    assert done.exit_code == 0, done.output
    file, shipped = load_prices(out), shipped_prices("aws")
    for region in ("us-east-1", "eu-central-2"):
        assert file.book(region).types == shipped.book(region).types
        assert file.snapshots(region) == shipped.snapshots(region)
    assert "eu-central-2: its list has no price of fast restores." in " ".join(done.output.split())
    assert "us-east-1: 7 types; other than shipped: none" in " ".join(done.output.split())


def test_snapshots_without_a_price_are_named_and_the_types_are_written(tmp_path):
    lists, book, _ = read("us-east-1", PriceList([row for row in rows() if "Snapshot" not in str(row)]), tmp_path)
    assert book.snapshots == SnapshotPrices()
    assert set(book.types) == set(HERE.types)
    assert len([note for note in lists.notes if "us-east-1: its list has no price of" in note]) == 4
    assert lists.is_whole


def test_a_list_that_cannot_be_read_is_named_and_the_others_are_written(tmp_path):
    denied = PriceList(error=ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetProducts"))
    answers = iter([denied, PriceList(rows())])
    lists = read_lists(lambda _endpoint: next(answers), ["eu-west-1", "us-east-1"], SHAPES, TODAY)
    assert set(lists.books) == {"us-east-1"}
    assert not lists.is_whole
    assert lists.notes[0].startswith("eu-west-1: ")
    assert "pricing:GetProducts" in lists.notes[0]
