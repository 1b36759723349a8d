"""Names of volumes, accounts and regions of every cloud, as people write them."""

import re

import pytest

from plimsoll.clouds.registry import account_pattern, region_pattern, volume_pattern
from plimsoll.clouds.targets import may_have, named_target

DISK = "4567890123456789012"


@pytest.mark.parametrize(
    "name",
    [
        "vol-0123456789abcdef0",
        "111122223333/eu-west-1/vol-0123456789abcdef0",
        DISK,
        f"storage-prod/us-central1/{DISK}",
        f"example.com:storage/northamerica-northeast1/{DISK}",
    ],
)
def test_a_volume_is_its_id_or_account_region_and_id(name):
    assert re.match(volume_pattern(), name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "disk-1",
        "storage-prod/us-central1/disk-1",
        f"storage-prod/{DISK}",
        f"111122223333/us-east-1/{DISK}",
        "storage-prod/us-central1/vol-0123456789abcdef0",
        f"../us-central1/{DISK}",
        f"storage-prod/us-central1/{DISK}\n<!channel>",
    ],
)
def test_anything_else_is_none(name):
    assert re.match(volume_pattern(), name) is None


@pytest.mark.parametrize("region", ["eu-west-1", "us-gov-west-1", "us-central1", "australia-southeast2"])
def test_regions_of_both_clouds_are_taken(region):
    assert re.match(region_pattern(), region)
    assert re.match(region_pattern(), f"{region}-a") is None


@pytest.mark.parametrize(("account", "cloud"), [("111122223333", "aws"), ("storage-prod", "google")])
def test_an_account_s_name_tells_its_cloud(account, cloud):
    assert re.match(account_pattern(), account)
    target = named_target(account, "any")
    assert target.provider == cloud
    assert (may_have(target, "vol-1"), may_have(target, DISK)) == (cloud == "aws", cloud == "google")
