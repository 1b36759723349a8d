"""Owners: who made a volume, told by the tags that each tool leaves."""

import pytest

from plimsoll.clouds.aws.owners import owner_of
from plimsoll.model.volume import BY_HAND, OwnerKind

CLAIM = {"kubernetes.io/created-for/pvc/name": "pg-0", "kubernetes.io/created-for/pvc/namespace": "shop"}
STACK = {"aws:cloudformation:stack-name": "billing", "aws:cloudformation:logical-id": "Data"}
TERRAFORM = {"ManagedBy": "terraform"}
GROUP = {"aws:autoscaling:groupName": "workers", "aws:ec2launchtemplate:id": "lt-1"}


@pytest.mark.parametrize(
    ("tags", "host_tags", "operator", "kind"),
    [
        ({**CLAIM, **STACK, **TERRAFORM}, GROUP, "eks.amazonaws.com", OwnerKind.OPERATOR),
        ({**CLAIM, **STACK, **TERRAFORM}, GROUP, None, OwnerKind.KUBERNETES),
        ({**STACK, **TERRAFORM}, GROUP, None, OwnerKind.CLOUDFORMATION),
        (TERRAFORM, GROUP, None, OwnerKind.TERRAFORM),
        ({}, GROUP, None, OwnerKind.AUTO_SCALING),
        ({}, {}, None, OwnerKind.HAND),
    ],
)
def test_the_most_specific_owner_wins(tags, host_tags, operator, kind):
    assert owner_of(tags, host_tags, operator).kind is kind


@pytest.mark.parametrize(
    "tags",
    [
        {"terraform": "true"},
        {"Terraform": "YES"},
        {"terraform": "1"},
        {"managed-by": "Terraform"},
        {"managed_by": "terraform-cloud"},
        {"iac": "terraform"},
        {"Provisioner": "terraform 1.9"},
        {"created-by": "terraform"},
    ],
)
def test_the_usual_tags_of_terraform_are_known(tags):
    assert owner_of(tags, {}, None).kind is OwnerKind.TERRAFORM


@pytest.mark.parametrize("tags", [{"terraform": "false"}, {"terraform": "no"}, {"Name": "terraform"}, {"iac": "cdk"}])
def test_what_only_mentions_terraform_is_not_its(tags):
    assert owner_of(tags, {}, None) == BY_HAND


def test_a_claim_of_the_csi_driver_carries_what_a_change_needs():
    found = owner_of(
        {
            **CLAIM,
            "kubernetes.io/created-for/pv/name": "pvc-1",
            "ebs.csi.aws.com/cluster": "true",
            "KubernetesCluster": "prod",
            "storageclass": "fast",
        },
        {},
        None,
    )
    assert found.name == "shop/pg-0"
    assert found.details == {
        "claim": "pg-0",
        "namespace": "shop",
        "persistent_volume": "pvc-1",
        "cluster": "prod",
        "storage_class": "fast",
    }


def test_a_claim_without_a_namespace_is_in_the_default_one():
    assert owner_of({"kubernetes.io/created-for/pvc/name": "pg-0"}, {}, None).name == "default/pg-0"


def test_a_csi_volume_without_a_claim_is_its_clusters():
    found = owner_of({"ebs.csi.aws.com/cluster": "true", "kubernetes.io/cluster/prod": "owned"}, {}, None)
    assert (found.kind, found.name, found.details) == (OwnerKind.KUBERNETES, "prod", {"cluster": "prod"})


def test_a_nodes_root_volume_with_a_cluster_tag_alone_is_no_claim():
    assert owner_of({"kubernetes.io/cluster/prod": "owned"}, GROUP, None).kind is OwnerKind.AUTO_SCALING


def test_a_stack_carries_its_resource():
    found = owner_of(STACK, {}, None)
    assert (found.name, found.details) == ("billing", {"logical_id": "Data"})


def test_a_group_carries_its_launch_template():
    found = owner_of({}, GROUP, None)
    assert (found.name, found.details) == ("workers", {"group": "workers", "launch_template": "lt-1"})
    assert owner_of({}, {"aws:ec2launchtemplate:id": "lt-1"}, None).name == "lt-1"
