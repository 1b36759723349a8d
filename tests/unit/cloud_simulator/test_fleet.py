"""The fleet: what the organization is made of, and how it grows."""

import tracemalloc
from collections import Counter
from datetime import timedelta

import pytest

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import truth
from cloud_simulator.aws.organization import GP2_SIZES_GIB, fleet_of, organization
from plimsoll.clouds.aws.owners import owner_of
from plimsoll.domain.sums import Window
from plimsoll.domain.volume import OwnerKind

from .served import HOME, NOW, named, query

pytestmark = pytest.mark.once


def test_the_same_arguments_make_the_same_organization_and_another_seed_another(fleet):
    assert organization(NOW) == fleet
    others = {volume.id for volume in organization(NOW, seed=2).volumes}
    assert others.isdisjoint(volume.id for volume in fleet.volumes)


@pytest.mark.parametrize("count", [120, 600, 2500])
def test_it_has_three_accounts_two_regions_and_at_least_as_many_volumes(count):
    fleet = organization(NOW, volumes=count)
    assert len(fleet.volumes) == count
    assert len({volume.id for volume in fleet.volumes}) == count
    places = {(volume.account, volume.region) for volume in fleet.volumes}
    every = {(account, region) for account in fleet.accounts for region in fleet.regions}
    assert every - places == {(fleet.accounts[2], fleet.regions[1])}


def test_every_volume_type_and_the_telling_sizes_are_there(fleet):
    kinds = Counter(volume.spec.type for volume in fleet.volumes)
    assert set(kinds) == {"gp2", "gp3", "io1", "io2", "st1", "sc1", "standard", "gp9"}
    assert {volume.spec.size_gib for volume in fleet.volumes if volume.spec.type == "gp2"} >= set(GP2_SIZES_GIB)


def test_every_kind_of_owner_is_there_tagged_as_its_tool_tags(fleet):
    kinds = {
        owner_of(
            dict(volume.tags), {key: value for host in volume.hosts for key, value in host.tags}, volume.operator
        ).kind
        for volume in fleet.volumes
    }
    assert kinds == set(OwnerKind)


def test_every_blocker_is_there(fleet):
    states = {volume.modification[0] for volume in fleet.volumes if volume.modification}
    assert states == {"modifying", "optimizing", "completed"}
    assert {volume.state for volume in fleet.volumes} == {"in-use", "available", "creating", "error"}
    assert any(volume.multi_attach and len(volume.hosts) == 2 for volume in fleet.volumes)
    assert any(volume.operator for volume in fleet.volumes)
    assert any(host.root_device == volume.device for volume in fleet.volumes for host in volume.hosts)
    recent = [v.modification[1] for v in fleet.volumes if v.modification and v.modification[0] == "completed"]
    assert all(NOW - started < timedelta(hours=24) for started in recent)


def test_io1_above_what_its_host_can_carry_and_a_tag_that_excludes_are_there(fleet):
    assert named(fleet, "search").hosts[0].type == "m5.large"
    assert dict(named(fleet, "left-alone").tags)["plimsoll:exclude"] == "true"


def test_the_truth_is_there_only_for_what_is_attached(fleet):
    window = Window.before(NOW, days=1)
    assert truth(named(fleet, "forgotten"), window) is None
    assert truth(named(fleet, "index"), window).buckets == window.buckets(60)


def test_a_big_fleet_is_an_ordinary_mix():
    fleet = fleet_of(2200, NOW)
    kinds = Counter(volume.spec.type for volume in fleet.volumes)
    assert kinds["gp2"] > 1400
    assert set(kinds) == {"gp2", "gp3", "io1"}
    assert any(not volume.hosts for volume in fleet.volumes)
    assert len({volume.id for volume in fleet.volumes}) == 2200


def test_ten_thousand_volumes_and_a_fortnight_of_their_minutes_cost_little_memory():
    tracemalloc.start()
    try:
        fleet = fleet_of(10_000, NOW)
        cloudwatch = CloudWatch(fleet, clock=NOW.timestamp)
        attached = [volume for volume in fleet.volumes if volume.hosts]
        for volume in attached[::100]:
            asked = {
                "MetricDataQueries": [query(volume, "VolumeReadOps")],
                "StartTime": NOW - timedelta(days=14),
                "EndTime": NOW,
            }
            (found,) = cloudwatch.get_metric_data(asked, HOME, "us-east-1")["MetricDataResults"]
            assert len(found["Values"]) == 14 * 1440
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 150 * 2**20
