"""CONTRIBUTING's walks are complete: who touches the files that a walk lists, and no others, has added the thing."""

import pytest

from tests.docs.walks import ROOT, Copy, files_naming, files_of

WALKS = ("A cloud", "A volume type", "A metric", "A report format", "A Slack button")

A_TYPE = """  gp4:
    source: Amazon EBS User Guide, a type of next year
    size_gib: [1, 65536]
    io_kib: 256
    iops: {least: 3000, most: 80000, per_gib: 500, included: 3000}
    throughput_mib_s: {least: 125, most: 2000, per_iops: 0.25, included: 125}
    latency: single-digit-ms
    durability_pct: 99.8
    boots: true
    multi_attach: false
    target: true
"""
A_PRICE = (
    "    gp4: {gib_month: 0.01, iops_month: 0.001, included_iops: 3000, throughput_mib_s_month: 0.01, "
    "included_throughput_mib_s: 125}\n"
)
AUDITED = """
from plimsoll.clouds.aws.price_book import shipped_prices
from tests.builders import a_volume
from tests.pipelines.test_audit import a_world, by_volume, outcomes

found = outcomes(a_world([a_volume("gp2", 500)], books={"us-east-1": shipped_prices().book("us-east-1")}))
print(by_volume(found)["vol-1"].recommendation.target.spec)
"""


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


@pytest.mark.parametrize("walk", WALKS)
def test_every_file_of_a_walk_exists(walk):
    files = files_of(walk)
    assert files
    assert [path for path in files if not (ROOT / path).exists()] == []


def test_a_volume_type_is_data_alone(copy):
    limits, prices = files_of("A volume type")
    assert copy.run(AUDITED) == "gp3 500 GiB 3,000 IOPS 125 MiB/s"
    copy.replace(limits, "types:\n", f"types:\n{A_TYPE}")
    written = (ROOT / prices).read_text(encoding="utf-8").split("\n  us-east-1:\n")[1].splitlines(keepends=True)[0]
    copy.replace(prices, f"\n  us-east-1:\n{written}", f"\n  us-east-1:\n{written}{A_PRICE}")
    assert copy.run(AUDITED) == "gp4 500 GiB 3,000 IOPS 125 MiB/s"


def test_a_metric_is_known_to_the_files_that_its_walk_lists():
    assert files_naming("throughput_exceeded", "lib") == sorted(files_of("A metric"))
