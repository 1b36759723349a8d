"""Google's clients read the whole fleet from the simulated Compute, Resource Manager and price catalog."""

import pytest
from google.api_core.exceptions import BadRequest, Forbidden, NotFound

from cloud_simulator.google.projects import PROJECTS
from cloud_simulator.google.resource_manager import ANALYTICS, ORGANIZATION, PRODUCTION
from plimsoll.clouds.common.dated_data import shipped_prices

from .served import SHOP, named

CATALOG = "services/6F81-5844-456A"


def listed(client, kind, project, **asked):
    found = []
    for scope, part in client.aggregated_list(request={"project": project, **asked}):
        found += [(scope, resource) for resource in getattr(part, kind)]
    return found


@pytest.mark.parametrize("size", [1, 7, 500])
def test_every_disk_of_every_project_is_listed_once_in_pages_of_any_size(clients, fleet, size):
    for project in PROJECTS:
        found = listed(clients.disks, "disks", project, max_results=size)
        assert sorted(str(disk.id) for _, disk in found) == sorted(disk.id for disk in fleet.disks(project))


def test_a_disk_is_described_as_it_is(clients, fleet):
    known = {disk.id: disk for disk in fleet.volumes}
    for scope, found in (one for project in PROJECTS for one in listed(clients.disks, "disks", project)):
        disk = known[str(found.id)]
        spec = disk.spec
        assert (found.name, found.size_gb, found.status) == (disk.name, spec.size_gib, disk.status)
        assert found.type_.rpartition("/")[2] == spec.type.removeprefix("regional-")
        assert (found.provisioned_iops or None, found.provisioned_throughput or None) == (
            spec.iops,
            spec.throughput_mib_s,
        )
        assert dict(found.labels) == dict(disk.labels)
        assert tuple(url.rpartition("/")[2] for url in found.replica_zones or disk.zones) == disk.zones
        assert scope == ("regions/" + disk.region if spec.type.startswith("regional-") else "zones/" + disk.zones[0])
        assert len(found.users) == len(disk.attached)
        assert bool(found.last_attach_timestamp) == bool(disk.attachments)


def test_instances_and_disks_know_each_other_by_their_addresses(clients, fleet):
    for project in PROJECTS:
        disks = {disk.self_link: disk for _, disk in listed(clients.disks, "disks", project)}
        instances = {vm.self_link: vm for _, vm in listed(clients.instances, "instances", project)}
        from_instances = {(one.source, link) for link, vm in instances.items() for one in vm.disks}
        assert from_instances == {(link, user) for link, disk in disks.items() for user in disk.users}
        for vm in instances.values():
            (known,) = (one for one in fleet.vms(project) if one.id == str(vm.id))
            boots = {attachment.device: attachment.boot for _, attachment in fleet.on(known)}
            assert {one.device_name: one.boot for one in vm.disks} == boots


def test_a_resource_is_got_by_name_or_id_and_what_is_missing_is_said(clients, fleet):
    disk = named(fleet.disks(SHOP), "shop-db-a")
    zone = disk.zones[0]
    for key in (disk.name, disk.id):
        assert str(clients.disks.get(project=SHOP, zone=zone, disk=key).id) == disk.id
    regional = named(fleet.volumes, "billing-data")
    found = clients.region_disks.get(project=regional.project, region=regional.region, disk=regional.name)
    assert str(found.id) == regional.id
    with pytest.raises(NotFound, match=f"zones/{zone}/disks/nothing"):
        clients.disks.get(project=SHOP, zone=zone, disk="nothing")
    with pytest.raises(NotFound, match="projects/nobody"):
        clients.disks.aggregated_list(project="nobody")


def test_filters_are_those_of_the_audit_and_any_other_is_refused(clients):
    benches = listed(clients.instances, "instances", SHOP, filter="labels.plimsoll-bench:*")
    assert {vm.name.partition("-")[0] for _, vm in benches} == {"bench"}
    assert len(benches) == 12, "two in each of six zones"
    (named_one,) = listed(clients.instances, "instances", SHOP, filter='name = "bench-us-central1-a"')
    (same,) = listed(clients.instances, "instances", SHOP, filter=f"id = {named_one[1].id}")
    assert same == named_one
    for other in ("name = a OR name = b", "status != RUNNING", "labels.plimsoll-bench=true"):
        with pytest.raises(BadRequest, match="filter"):
            listed(clients.instances, "instances", SHOP, filter=other)


@pytest.mark.parametrize("size", [0, 501])
def test_pages_of_no_or_too_many_results_are_refused(clients, size):
    with pytest.raises(BadRequest, match="maxResults"):
        clients.disks.aggregated_list(request={"project": SHOP, "max_results": size})


def test_regions_are_listed(clients):
    assert [region.name for region in clients.regions.list(project=SHOP)] == ["us-central1", "europe-west1"]


def test_projects_are_found_by_folder_without_those_that_close(clients):
    def under(parent):
        return {one.project_id for one in clients.projects.list_projects(parent=parent)}

    assert under(PRODUCTION) == {PROJECTS[0]}
    assert under(ANALYTICS) == {PROJECTS[1]}
    assert under(ORGANIZATION) == {PROJECTS[2]}
    assert [one.name for one in clients.folders.list_folders(parent=PRODUCTION)] == [ANALYTICS]
    assert clients.projects.get_project(name=f"projects/{SHOP}").state.name == "ACTIVE"
    with pytest.raises(Forbidden):
        list(clients.projects.list_projects(parent="folders/9"))


def test_the_catalog_lists_the_shipped_prices_and_what_looks_like_them(clients):
    found = {}
    for sku in clients.catalog.list_skus(request={"parent": CATALOG, "page_size": 5}):
        (info,) = sku.pricing_info
        price = info.pricing_expression.tiered_rates[-1].unit_price
        found[sku.description, sku.category.usage_type] = price.units + price.nanos / 1e9
    iowa = shipped_prices("google").book("us-central1").types
    assert found["Storage PD Capacity in Iowa", "OnDemand"] == iowa["pd-standard"].gib_month
    assert found["SSD backed PD Capacity in Iowa", "OnDemand"] == iowa["pd-ssd"].gib_month
    assert found["Hyperdisk Balanced IOPS in Iowa", "OnDemand"] == iowa["hyperdisk-balanced"].iops_tiers[0][1]
    assert found["Commitment v1: SSD backed PD Capacity in Iowa", "Commit1Yr"] < iowa["pd-ssd"].gib_month
    assert not list(clients.catalog.list_skus(parent="services/9662-B51E-5089"))
