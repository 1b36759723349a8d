"""Google's clients read the whole fleet from the simulated Compute, Resource Manager and price catalog."""

from dataclasses import replace

import pytest
from google.api_core.exceptions import BadRequest, Forbidden, NotFound
from google.cloud import compute_v1

from cloud_simulator.google.projects import CLOSING, PROJECTS
from plimsoll.clouds.google.shipped import shipped_prices

from .served import SHOP, named, served

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
    for scope, found in (one for project in PROJECTS for one in listed(clients.disks, "disks", project)):
        disk = fleet.disk(str(found.id))
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
        assert bool(found.last_attach_timestamp) == bool(disk.seats)


def test_instances_and_disks_know_each_other_by_their_addresses(clients, fleet):
    for project in PROJECTS:
        disks = {disk.self_link: disk for _, disk in listed(clients.disks, "disks", project)}
        instances = {vm.self_link: vm for _, vm in listed(clients.instances, "instances", project)}
        from_instances = {(one.source, link) for link, vm in instances.items() for one in vm.disks}
        assert from_instances == {(link, user) for link, disk in disks.items() for user in disk.users}
        for vm in instances.values():
            seats = {
                seat.device: seat for _, seat in fleet.on(next(v for v in fleet.vms(project) if v.id == str(vm.id)))
            }
            assert {one.device_name: one.boot for one in vm.disks} == {name: seat.boot for name, seat in seats.items()}


def test_a_stopped_instance_keeps_its_disk_and_a_deleted_one_is_not_listed(clients, fleet):
    stopped = named(fleet.volumes, "batch-old")
    by_name = {vm.name: vm for _, vm in listed(clients.instances, "instances", stopped.project)}
    assert by_name["batch-old"].status == "TERMINATED"
    assert by_name["batch-old"].last_stop_timestamp
    names = {vm.name for project in PROJECTS for _, vm in listed(clients.instances, "instances", project)}
    assert not names & {"batch-77", "gke-prod-pool-1-c3d4"}


def test_a_managed_instance_says_by_what_it_was_made(clients, fleet):
    disk = named(fleet.volumes, "workers-x1y2")
    vm = clients.instances.get(project=disk.project, zone=disk.zones[0], instance="workers-x1y2")
    (item,) = vm.metadata.items
    assert (item.key, item.value.rpartition("/")[2]) == ("created-by", "workers")


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


def test_filters_by_label_status_and_name_are_understood(clients):
    benches = listed(clients.instances, "instances", SHOP, filter="labels.plimsoll-bench=true")
    assert {vm.name.partition("-")[0] for _, vm in benches} == {"bench"}
    assert len(benches) == 12, "two in each of six zones"
    both = '(labels.plimsoll-bench:*) AND (name = "bench-us-central1-a")'
    assert [vm.name for _, vm in listed(clients.instances, "instances", SHOP, filter=both)] == ["bench-us-central1-a"]
    assert not listed(clients.instances, "instances", SHOP, filter="status != RUNNING")
    with pytest.raises(BadRequest, match="filter"):
        listed(clients.instances, "instances", SHOP, filter="name = a OR name = b")


@pytest.mark.parametrize("size", [0, 501])
def test_pages_of_no_or_too_many_results_are_refused(clients, size):
    with pytest.raises(BadRequest, match="maxResults"):
        clients.disks.aggregated_list(request={"project": SHOP, "max_results": size})


def test_scopes_without_disks_say_so(clients):
    asked = compute_v1.AggregatedListDisksRequest(project="plimsoll-sim-lab")
    empty = {scope for scope, part in clients.disks.aggregated_list(asked) if part.warning.code}
    assert "zones/europe-west1-b" in empty
    assert "zones/us-central1-a" not in empty


def test_regions_and_zones_are_listed(clients):
    assert [region.name for region in clients.regions.list(project=SHOP)] == ["us-central1", "europe-west1"]
    zones = [zone.name for zone in clients.zones.list(project=SHOP)]
    assert len(zones) == 6
    assert "europe-west1-d" in zones


def test_projects_are_found_by_folder_and_by_search_without_those_that_close(clients, fleet):
    def under(parent):
        return {one.project_id for one in clients.projects.list_projects(parent=parent)}

    production, analytics = fleet.folders
    assert under(production.name) == {PROJECTS[0]}
    assert under(analytics.name) == {PROJECTS[1]}
    assert under(fleet.organization) == {PROJECTS[2]}
    assert [one.name for one in clients.folders.list_folders(parent=production.name)] == [analytics.name]
    assert {one.project_id for one in clients.projects.search_projects()} == {*PROJECTS, CLOSING}
    active = clients.projects.search_projects(query=f"parent:{fleet.organization} state:ACTIVE")
    assert [one.project_id for one in active] == [PROJECTS[2]]
    assert clients.projects.get_project(name=f"projects/{SHOP}").state.name == "ACTIVE"
    with pytest.raises(Forbidden):
        list(clients.projects.list_projects(parent="folders/9"))


def test_the_catalog_lists_the_shipped_prices_and_what_looks_like_them(clients):
    found = {}
    for sku in clients.catalog.list_skus(request={"parent": CATALOG, "page_size": 5}):
        (info,) = sku.pricing_info
        price = info.pricing_expression.tiered_rates[-1].unit_price
        found[sku.description, sku.category.usage_type] = price.units + price.nanos / 1e9
    iowa = shipped_prices().book("us-central1").types
    assert found["Storage PD Capacity in Iowa", "OnDemand"] == iowa["pd-standard"].gib_month
    assert found["SSD backed PD Capacity in Iowa", "OnDemand"] == iowa["pd-ssd"].gib_month
    assert found["Hyperdisk Balanced IOPS in Iowa", "OnDemand"] == iowa["hyperdisk-balanced"].iops_tiers[0][1]
    assert found["Commitment v1: SSD backed PD Capacity in Iowa", "Commit1Yr"] < iowa["pd-ssd"].gib_month
    titles = {service.display_name: service.name for service in clients.catalog.list_services()}
    assert titles["Compute Engine"] == CATALOG
    look_alikes = [sku.description for sku in clients.catalog.list_skus(parent=titles["Cloud SQL"])]
    assert "Cloud SQL Hyperdisk Balanced Capacity in Iowa" in look_alikes


def test_the_same_disk_has_the_same_address_in_another_server_of_the_same_fleet(fleet, clients):
    with served(replace(fleet)) as again:
        one, other = (listed(found.disks, "disks", SHOP)[0][1] for found in (clients, again))
    assert one == other
