"""Owners: who made a disk, told by the labels, descriptions and metadata that each tool leaves."""

import json

import pytest

from plimsoll.model.volume import BY_HAND, OwnerKind
from plimsoll_google.owners import disk_owner

CLAIMED = json.dumps(
    {
        "kubernetes.io/created-for/pv/name": "pvc-1",
        "kubernetes.io/created-for/pvc/name": "pg-0",
        "kubernetes.io/created-for/pvc/namespace": "shop",
        "storage.gke.io/created-by": "pd.csi.storage.gke.io",
    }
)
CLUSTER = {
    "goog-k8s-cluster-name": "prod",
    "goog-k8s-cluster-location": "us-central1",
    "goog-k8s-node-pool-name": "workers",
    "goog-terraform-provisioned": "true",
}
VOLUME = {"goog-gke-volume": "", **CLUSTER}
NODE = {"goog-gke-node": "", **CLUSTER}
GROUP = {
    "created-by": "projects/123456/zones/us-central1-a/instanceGroupManagers/web",
    "instance-template": "projects/123456/global/instanceTemplates/web-7",
}


def owner(tags=None, host_tags=None, *, host="vm-1", name="data", description=""):
    return disk_owner(tags or {}, {**(host_tags or {}), "Name": host}, name, description)


def test_a_claims_disk_is_its_claims_though_terraform_made_the_cluster():
    found = owner(VOLUME, NODE, description=CLAIMED)
    assert (found.kind, found.name) == (OwnerKind.KUBERNETES, "shop/pg-0")
    assert found.details == {
        "claim": "pg-0",
        "namespace": "shop",
        "persistent_volume": "pvc-1",
        "cluster": "prod",
        "location": "us-central1",
    }


def test_the_description_alone_tells_a_claim_where_the_cluster_is_not_gkes():
    assert owner(description=CLAIMED).name == "shop/pg-0"


def test_a_gke_volume_whose_description_is_gone_is_its_clusters():
    found = owner(VOLUME)
    assert (found.kind, found.name) == (OwnerKind.KUBERNETES, "prod")
    assert "claim" not in found.details


@pytest.mark.parametrize(
    "description", ["", "data of pg", "[1]", '"x"', '{"kubernetes.io/created-for/pvc/name": 7}', "{"]
)
def test_a_description_that_somebody_else_wrote_tells_nothing(description):
    assert owner(description=description) == BY_HAND


def test_a_nodes_boot_disk_is_its_node_pools():
    for found in (owner(NODE, {**NODE, **GROUP}), owner({}, {**NODE, **GROUP}, name="vm-1")):
        assert (found.kind, found.name) == (OwnerKind.AUTO_SCALING, "prod/workers")
        assert found.details["node_pool"] == "workers"


def test_a_disk_that_was_attached_to_a_node_by_hand_is_not_the_node_pools():
    assert owner({}, {**NODE, **GROUP}, name="legacy-data") == BY_HAND


@pytest.mark.parametrize("name", ["web-x1f2", "web-x1f2-1"])
def test_a_disk_that_was_made_with_a_groups_instance_is_the_groups(name):
    found = owner({}, GROUP, host="web-x1f2", name=name)
    assert (found.kind, found.name) == (OwnerKind.AUTO_SCALING, "web")
    assert found.details == {"group": "web", "location": "us-central1-a", "template": "web-7"}


@pytest.mark.parametrize("name", ["web-x1f2-data", "web-x1f2-", "web-x1f21", "web"])
def test_a_disk_whose_name_only_begins_like_its_instances_was_made_by_hand(name):
    assert owner({}, GROUP, host="web-x1f2", name=name) == BY_HAND


def test_a_regional_group_is_one_too():
    created = {"created-by": "projects/1/regions/us-central1/instanceGroupManagers/web"}
    assert owner({}, created, name="vm-1").details == {"group": "web", "location": "us-central1"}


def test_a_label_that_only_is_called_created_by_makes_no_group():
    assert owner({}, {"created-by": "jane"}, name="vm-1") == BY_HAND


@pytest.mark.parametrize(
    "tags", [{"goog-terraform-provisioned": "true"}, {"managed-by": "terraform"}, {"terraform": "true"}]
)
def test_terraforms_labels_are_known_on_the_disk_and_on_the_instance_that_made_it(tags):
    assert owner(tags).kind is OwnerKind.TERRAFORM
    assert owner({}, tags, name="vm-1").kind is OwnerKind.TERRAFORM
    assert owner({}, tags, name="data") == BY_HAND


def test_an_instance_group_wins_over_the_terraform_that_wrote_its_template():
    host = {**GROUP, "goog-terraform-provisioned": "true"}
    assert owner({}, host, name="vm-1").kind is OwnerKind.AUTO_SCALING


def test_dataproc_and_deployment_manager_are_services_that_made_it():
    cluster = {"goog-dataproc-cluster-name": "etl", "goog-dataproc-location": "us-central1"}
    assert owner(cluster).name == "Dataproc cluster etl"
    assert owner(cluster).details["location"] == "us-central1"
    assert owner({"goog-dm": "legacy"}).name == "Deployment Manager's legacy"
    assert {owner(cluster).kind, owner({"goog-dm": "legacy"}).kind} == {OwnerKind.OPERATOR}


def test_a_detached_disk_without_marks_was_made_by_hand():
    assert disk_owner({"team": "payments"}, {}, "data", "") == BY_HAND
