"""The fleet: what the organization is made of, and how it grows."""

from datetime import timedelta

import pytest

from cloud_simulator.aws.organization import organization
from plimsoll.clouds.aws.owners import owner_of
from plimsoll.model.volume import OwnerKind

from .served import NOW

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


def test_every_kind_of_owner_is_there_tagged_as_its_tool_tags(fleet):
    kinds = {
        owner_of(
            dict(volume.tags), {key: value for host in volume.hosts for key, value in host.tags}, volume.operator
        ).kind
        for volume in fleet.volumes
    }
    assert kinds == set(OwnerKind)


def test_every_blocker_is_there(fleet):
    states = {volume.modification.state for volume in fleet.volumes if volume.modification}
    assert states == {"modifying", "optimizing", "completed"}
    assert {volume.state for volume in fleet.volumes} == {"in-use", "available", "creating", "error"}
    assert any(volume.multi_attach and len(volume.hosts) == 2 for volume in fleet.volumes)
    assert any(volume.operator for volume in fleet.volumes)
    assert any(host.root_device == volume.device for volume in fleet.volumes for host in volume.hosts)
    recent = [v.modification.started for v in fleet.volumes if v.modification and v.modification.state == "completed"]
    assert all(NOW - started < timedelta(hours=24) for started in recent)
