"""The inventory of Google's projects: disks of zones and regions, their hosts and owners, and what cannot be had."""

import gc
from datetime import UTC, datetime
from itertools import islice

import pytest
from google.cloud import compute_v1
from google.cloud.resourcemanager_v3 import Project

from plimsoll.model.errors import AccessDenied, ApiDisabled, BadInput, Unreachable
from plimsoll.model.policy import OPT_OUT
from plimsoll.model.volume import OwnerKind, VolumeSpec, VolumeState
from plimsoll.ports import FailedTarget, Target, UnreadVolume
from plimsoll_google.aggregated import disk_pages
from plimsoll_google.connection import inventory_in
from plimsoll_google.inventory import GoogleInventory
from plimsoll_google.listing import ProjectListing
from plimsoll_google.machines import machine
from tests.builders import NOW
from tests.unit.google.google_here import ATTACHED, COMPUTE, denied, disabled, refusal

SHOP = "plimsoll-shop"
DATA = "plimsoll-data"
LAB = "plimsoll-lab"
HERE = Target(account=SHOP, region="us-central1", provider="google")
THERE = Target(account=SHOP, region="europe-west4", provider="google")
UNKNOWN = "x9-standard-4"


def inventory(clients, *projects, **given):
    return GoogleInventory(clients=clients, projects=projects or (SHOP,), **given)


def listed(clients, target=HERE, **given):
    return list(inventory(clients, **given).volumes(target))


def test_a_disk_is_a_volume_with_all_that_a_decision_needs(google, clients):
    host = google.instance(SHOP, "web-1", labels={"team": "shop"})
    disk = google.disk(SHOP, "web-data", "pd-balanced", users=[host], size_gb=250, labels={"env": "prod"})
    (volume,) = listed(clients)
    assert (volume.id, volume.account, volume.region, volume.zone) == (
        str(disk.id),
        SHOP,
        "us-central1",
        "us-central1-a",
    )
    assert volume.spec == VolumeSpec(type="pd-balanced", size_gib=250)
    assert volume.name == "web-data"
    assert dict(volume.tags) == {"env": "prod", "Name": "web-data"}
    assert (volume.state, volume.created) == (
        VolumeState.IN_USE,
        datetime(2026, 1, 2, 11, 4, 5, 678_000, tzinfo=UTC),
    )
    (where,) = volume.attachments
    assert (where.device, where.boot) == ("device-web-data-0", False)
    assert where.since == datetime(2026, 2, 3, 12, 5, 6, 789_000, tzinfo=UTC)
    assert (where.host.id, where.host.type) == (str(host.id), "n2-standard-8")
    assert dict(where.host.tags) == {"team": "shop", "Name": "web-1"}
    known = machine("n2-standard-8")
    assert (where.host.limits, where.host.caps) == (known.limits, known.caps)


def test_a_regional_disk_is_in_both_of_its_zones_and_of_a_type_of_its_own(google, clients):
    google.disk(SHOP, "both", "pd-ssd", region="us-central1", replicas=("us-central1-f", "us-central1-a"))
    both = ("us-central1-a", "us-central1-b")
    google.disk(SHOP, "ha", "hyperdisk-balanced-high-availability", region="us-central1", replicas=both)
    both, ha = listed(clients)
    assert (both.zone, both.spec.type) == ("us-central1-a+us-central1-f", "regional-pd-ssd")
    assert ha.spec.type == "hyperdisk-balanced-high-availability"


@pytest.mark.parametrize(
    ("kind", "iops", "throughput_mib_s"),
    [
        ("hyperdisk-balanced", 5000, 300),
        ("pd-extreme", 5000, None),
        ("hyperdisk-throughput", None, 300),
        ("pd-ssd", None, None),
        ("pd-of-tomorrow", 5000, 300),
    ],
)
def test_what_is_provisioned_is_told_where_the_type_sells_it(google, clients, kind, iops, throughput_mib_s):
    google.disk(SHOP, "one", kind, provisioned_iops=5000, provisioned_throughput=300)
    (volume,) = listed(clients)
    assert volume.spec == VolumeSpec(type=kind, size_gib=100, iops=iops, throughput_mib_s=throughput_mib_s)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("hyperdisk-balanced", "provisioned_iops"),
        ("hyperdisk-balanced", "provisioned_throughput"),
        ("pd-extreme", "provisioned_iops"),
    ],
)
def test_a_disk_without_the_figures_that_its_type_sells_is_unread(google, clients, kind, field):
    google.disk(SHOP, "one", kind, **{field: None})
    (unread,) = listed(clients)
    assert "disk one in" in str(unread.error)
    assert "is missing" in str(unread.error)


@pytest.mark.parametrize(
    ("status", "used", "state"),
    [
        ("READY", True, VolumeState.IN_USE),
        ("READY", False, VolumeState.AVAILABLE),
        ("CREATING", False, VolumeState.CREATING),
        ("RESTORING", False, VolumeState.CREATING),
        ("DELETING", True, VolumeState.DELETING),
        ("FAILED", False, VolumeState.ERROR),
        ("UNAVAILABLE", True, VolumeState.ERROR),
    ],
)
def test_states(google, clients, status, used, state):
    host = google.instance(SHOP, "web-1")
    google.disk(SHOP, "one", users=[host] if used else [], status=status)
    assert listed(clients)[0].state is state


def test_a_disk_attached_to_nothing_is_available(google, clients):
    google.disk(SHOP, "left")
    (volume,) = listed(clients)
    assert (volume.state, volume.attachments) == (VolumeState.AVAILABLE, ())


def test_a_disk_of_a_stopped_instance_is_attached(google, clients):
    google.disk(SHOP, "one", users=[google.instance(SHOP, "off")])
    google.instances[SHOP][0][1].status = "TERMINATED"
    assert listed(clients)[0].hosts[0].id == str(google.instances[SHOP][0][1].id)


def test_a_boot_disk_is_told_by_its_instance(google, clients):
    host = google.instance(SHOP, "web-1")
    google.disk(SHOP, "web-1", users=[host])
    host.disks[0].boot = True
    assert listed(clients)[0].boot


def test_a_local_ssd_is_no_volume(google, clients):
    host = google.instance(SHOP, "web-1")
    google.disk(SHOP, "data", users=[host])
    host.disks.append(compute_v1.AttachedDisk(device_name="local-ssd-0", type_="SCRATCH"))
    assert [volume.name for volume in listed(clients)] == ["data"]


def test_a_disk_of_several_instances_has_each_by_its_own_device_name(google, clients):
    hosts = [google.instance(SHOP, f"node-{number}") for number in range(2)]
    google.disk(SHOP, "shared", "hyperdisk-balanced", users=hosts, access_mode="READ_WRITE_MANY")
    (volume,) = listed(clients)
    assert volume.multi_attach
    assert [(where.host.id, where.device) for where in volume.attachments] == [
        (str(hosts[0].id), "device-shared-0"),
        (str(hosts[1].id), "device-shared-1"),
    ]


def test_the_host_of_another_project_is_not_known(google, clients):
    disk = google.disk(SHOP, "one", last_attach_timestamp=ATTACHED)
    disk.users = [f"{COMPUTE}/projects/tenant-1/zones/us-central1-a/instances/web-1"]
    (volume,) = listed(clients)
    assert [(where.host, where.device) for where in volume.attachments] == [(None, "")]
    assert volume.state is VolumeState.IN_USE


def test_urls_that_name_another_host_of_the_api_are_the_same_resource(google, clients):
    host = google.instance(SHOP, "web-1")
    disk = google.disk(SHOP, "one", users=[host])
    disk.users = [host.self_link.replace("www.googleapis.com", "compute.googleapis.com")]
    assert listed(clients)[0].hosts


def test_labels_of_ours_are_the_policy_s_tags(google, clients):
    google.disk(SHOP, "kept", labels={"plimsoll-exclude": "true"})
    assert OPT_OUT.holds_for(listed(clients)[0], NOW)


def test_the_group_that_made_the_instance_owns_the_disks_that_it_made_with_it(google, clients):
    group = "projects/4711/zones/us-central1-a/instanceGroupManagers/web"
    host = google.instance(SHOP, "web-x1", metadata={"items": [{"key": "created-by", "value": group}]})
    google.disk(SHOP, "web-x1", users=[host])
    (volume,) = listed(clients)
    assert (volume.owner.kind, volume.owner.name) == (OwnerKind.AUTO_SCALING, "web")
    assert "created-by" not in dict(volume.hosts[0].tags)


def test_a_disk_that_another_is_replicated_to_is_not_left_over(google, clients):
    status = {"async_primary_disk": {"state": "ACTIVE"}}
    google.disk(SHOP, "copy", async_primary_disk={"disk": "elsewhere"}, resource_status=status)
    stopped = {"async_primary_disk": {"state": "STOPPED"}}
    google.disk(SHOP, "stopped", async_primary_disk={"disk": "elsewhere"}, resource_status=stopped)
    copy, stopped = listed(clients)
    assert copy.operator == "asynchronous replication from another disk"
    assert stopped.operator is None


def test_a_disk_says_where_it_is_replicated_to_and_which_pool_pays_for_it(google, clients):
    other = f"{COMPUTE}/projects/{SHOP}/zones/us-east1-b/disks/copy"
    google.disk(SHOP, "data", async_secondary_disks={other: {"async_replication_disk": {"disk": other}}})
    pool = f"{COMPUTE}/projects/{SHOP}/zones/us-central1-a/storagePools/pool-1"
    google.disk(SHOP, "pooled", "hyperdisk-balanced", storage_pool=pool)
    data, pooled = listed(clients)
    assert (data.replicated_to, data.storage_pool) == (("copy",), None)
    assert (pooled.replicated_to, pooled.storage_pool) == ((), "pool-1")


def test_an_instance_says_since_when_it_is_stopped(google, clients):
    stopped = {"status": "TERMINATED", "last_stop_timestamp": "2026-11-01T03:00:00.000-07:00"}
    google.disk(SHOP, "idle", users=[google.instance(SHOP, "batch", **stopped)])
    google.disk(SHOP, "busy", users=[google.instance(SHOP, "web", last_stop_timestamp=ATTACHED)])
    idle, busy = listed(clients)
    assert idle.hosts[0].stopped_since == datetime(2026, 11, 1, 10, tzinfo=UTC)
    assert busy.hosts[0].stopped_since is None


def test_an_attachment_that_was_made_as_the_instance_was_started_may_only_be_made_anew(google, clients):
    google.disk(SHOP, "nightly", users=[google.instance(SHOP, "batch", last_start_timestamp=ATTACHED)])
    google.disk(
        SHOP, "moved", users=[google.instance(SHOP, "web", last_start_timestamp="2025-01-01T00:00:00.000-07:00")]
    )
    assert [volume.attachments[0].at_start for volume in listed(clients)] == [True, False]


def test_targets_are_the_regions_with_disks(google, clients):
    google.disk(SHOP, "one")
    google.disk(SHOP, "both", region="europe-west4", replicas=("europe-west4-a", "europe-west4-b"))
    google.disk(DATA, "two", zone="us-central1-b")
    assert inventory(clients, SHOP, DATA, LAB).targets() == [
        THERE,
        HERE,
        Target(account=DATA, region="us-central1", provider="google"),
    ]


def test_named_regions_are_the_targets_of_every_project(google, clients):
    assert inventory(clients, SHOP, DATA, regions=["us-central1"]).targets() == [
        HERE,
        Target(account=DATA, region="us-central1", provider="google"),
    ]


def test_a_region_that_does_not_exist_is_said_with_the_nearest(google, clients):
    with pytest.raises(BadInput, match="no Google Cloud region us-centrl1: did you mean us-central1"):
        inventory(clients, regions=["us-centrl1"]).targets()


def test_one_listing_serves_all_regions_of_a_project(google, clients):
    google.disk(SHOP, "one")
    google.disk(SHOP, "two", zone="europe-west4-b")
    found = inventory(clients)
    names = [[volume.name for volume in found.volumes(target)] for target in found.targets()]
    assert names == [["two"], ["one"]]
    assert google.calls() == {"compute.disks.list": 1, "compute.instances.list": 1}


def test_projects_are_let_go_one_after_the_other(google, clients):
    for project in (SHOP, DATA):
        google.disk(project, "one")
        google.disk(project, "two", zone="europe-west4-b")
    found = inventory(clients, SHOP, DATA)
    for target in found.targets():
        assert len(list(found.volumes(target))) == 1
    assert google.calls(DATA) == {"compute.disks.list": 2, "compute.instances.list": 1}
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, ProjectListing) and one.clients is clients]


def test_a_target_asked_twice_is_listed_anew(google, clients):
    google.disk(SHOP, "one")
    found = inventory(clients)
    assert list(found.volumes(HERE)) == list(found.volumes(HERE)) != []
    assert google.calls()["compute.disks.list"] == 2


def test_volumes_come_as_their_page_does(google, clients):
    host = google.instance(SHOP, "web-1")
    for number in range(1200):
        google.disk(SHOP, f"disk-{number}", users=[host] if number % 100 == 0 else ())
    found = inventory(clients)
    first = list(islice(found.volumes(HERE), 3))
    assert [volume.name for volume in first] == ["disk-0", "disk-1", "disk-2"]
    assert google.calls()["compute.disks.list"] == 1
    whole = list(found.volumes(HERE))
    assert len({volume.id for volume in whole}) == 1200
    assert google.calls()["compute.disks.list"] == 1 + 3


def test_zones_that_did_not_answer_are_said_and_their_region_is_a_target(google, clients):
    google.disk(SHOP, "one")
    google.unreachable[SHOP] = [f"{COMPUTE}/projects/{SHOP}/zones/europe-west4-b", "zones/us-central1-f"]
    found = inventory(clients)
    assert found.targets() == [THERE, HERE]
    unread = [[one.what for one in found.volumes(place) if isinstance(one, UnreadVolume)] for place in (THERE, HERE)]
    assert unread == [["the disks of europe-west4-b"], ["the disks of us-central1-f"]]


def test_machine_types_without_data_are_one_notice(google, clients):
    hosts = [google.instance(SHOP, f"web-{number}", UNKNOWN if number < 3 else "x9-metal") for number in range(4)]
    for host in hosts:
        google.disk(SHOP, f"{host.name}-data", users=[host])
    found = inventory(clients)
    volumes = list(found.volumes(HERE))
    assert {(one.limits, one.caps) for volume in volumes for one in volume.hosts} == {(None, ())}
    (text,) = found.notices(HERE)
    assert "x9-metal (1 volume), x9-standard-4 (3 volumes)" in text
    assert "update Plimsoll" in text


def test_a_disk_type_that_its_machine_has_no_figures_for_is_one_notice(google, clients):
    small, large = (google.instance(SHOP, f"lake-{size}", f"n2-standard-{size}") for size in (8, 80))
    for host in (small, large):
        google.disk(SHOP, f"{host.name}-extreme", "pd-extreme", users=[host])
        google.disk(SHOP, f"{host.name}-new", "pd-quantum", users=[host])
    (text,) = (found := inventory(clients)).notices(HERE)
    assert "pd-extreme on n2-standard-8 (1 volume)." in text
    assert "judged by their own limits" in text
    assert {volume.spec.type for volume in found.volumes(HERE)} == {"pd-extreme", "pd-quantum"}


def test_disks_of_storage_pools_are_said(google, clients):
    google.disk(SHOP, "one", "hyperdisk-balanced", storage_pool=f"{COMPUTE}/projects/{SHOP}/storagePools/p")
    (text,) = inventory(clients).notices(HERE)
    assert text.startswith("1 volume in Hyperdisk Storage Pools")


def test_a_target_of_which_nothing_is_to_be_said_has_no_notices(google, clients):
    google.disk(SHOP, "one", users=[google.instance(SHOP, "web-1")])
    assert inventory(clients).notices(HERE) == ()


def test_a_target_that_cannot_be_listed_has_no_notices(google, clients):
    google.refused["compute.disks.list", SHOP] = denied("compute.disks.list", SHOP)
    assert inventory(clients).notices(HERE) == ()


@pytest.mark.parametrize("permission", ["compute.disks.list", "compute.instances.list"])
def test_a_refused_target_is_said_with_the_permission_and_the_next_is_read(google, clients, permission):
    google.disk(SHOP, "one")
    google.disk(DATA, "two")
    google.refused[permission, SHOP] = denied(permission, SHOP)
    found = inventory(clients, SHOP, DATA, regions=["us-central1"])
    refused, other = found.targets()
    with pytest.raises(
        AccessDenied, match=f"cannot read {SHOP}/us-central1: forbidden for {permission} in {SHOP}"
    ) as said:
        list(found.volumes(refused))
    assert "roles/compute.viewer" in str(said.value)
    assert [volume.name for volume in found.volumes(other)] == ["two"]


def test_one_project_of_three_without_permission_costs_itself_alone(google, clients):
    google.disk(SHOP, "one")
    google.disk(LAB, "two")
    google.refused["compute.disks.list", DATA] = denied("compute.disks.list", DATA)
    shop, lab, failed = sorted(
        inventory(clients, SHOP, DATA, LAB).targets(), key=lambda one: isinstance(one, FailedTarget)
    )
    assert (shop.account, lab.account, failed.name) == (SHOP, LAB, DATA)
    assert isinstance(failed.error, AccessDenied)


def test_an_api_that_is_off_is_said_with_the_line_that_switches_it_on(google, clients):
    google.refused["compute.disks.list", DATA] = disabled(DATA)
    (failed,) = inventory(clients, DATA, SHOP).targets()
    assert isinstance(failed.error, ApiDisabled)
    assert f"gcloud services enable compute.googleapis.com --project {DATA}" in str(failed.error)


def test_a_project_nobody_named_may_have_the_api_off(google, clients):
    google.disk(SHOP, "one")
    google.refused["compute.disks.list", DATA] = disabled(DATA)
    google.refused["compute.disks.list", LAB] = disabled(LAB)
    found = inventory(clients, SHOP, DATA, LAB, named=[LAB]).targets()
    assert found[0] == HERE
    assert [failed.name for failed in found[1:]] == [LAB]


@pytest.mark.parametrize(("names", "told"), [([], []), (["471100000000"], [DATA]), ([DATA], [DATA])])
def test_of_a_folders_projects_those_that_somebody_named_by_id_or_number_need_the_api(google, clients, names, told):
    google.numbers["471100000000"] = DATA
    google.below["folders/1"] = [Project(project_id=name, state="ACTIVE") for name in (SHOP, DATA)]
    google.disk(SHOP, "one")
    google.refused["compute.disks.list", DATA] = disabled(DATA)
    found = inventory_in(clients, projects=names, folders=["1"]).targets()
    assert [failed.name for failed in found if isinstance(failed, FailedTarget)] == told
    assert HERE in found


def test_what_failed_before_is_among_the_targets(google, clients):
    lost = FailedTarget(name="folders/1", error=AccessDenied("cannot list the projects of folders/1: no."))
    assert inventory(clients, failed=[lost]).targets() == [lost]


def test_a_call_is_tried_again_when_google_asks_for_patience(google, clients):
    google.disk(SHOP, "one")
    google.refused["compute.disks.list", SHOP] = [refusal(503, "UNAVAILABLE", "try again")]
    assert len(listed(clients)) == 1


def test_a_target_that_failed_on_the_way_is_read_anew(google, clients):
    google.disk(SHOP, "one")
    google.refused["compute.disks.list", SHOP] = [refusal(503, "UNAVAILABLE", "no")] * 2
    found = inventory(clients)
    with pytest.raises(Unreachable):
        list(found.volumes(HERE))
    assert len(list(found.volumes(HERE))) == 1


def test_a_time_that_is_none_costs_its_own_disk(google, clients):
    google.disk(SHOP, "one", creation_timestamp="yesterday")
    google.disk(SHOP, "two")
    two, one = listed(clients)
    assert two.name == "two"
    assert "disk one in" in str(one.error)
    assert "yesterday" in str(one.error)


def test_what_stands_in_a_page_comes_in_one_order_whatever_that_of_the_map_is(google, clients):
    zones = [f"europe-west4-{letter}" for letter in "dbcefgha"]
    for zone in zones:
        google.disk(SHOP, f"disk-{zone}", zone=zone)
    (page,) = disk_pages(clients, SHOP, SHOP)
    assert [scope for scope, _disk in page.found] == [f"zones/{zone}" for zone in sorted(zones)]
