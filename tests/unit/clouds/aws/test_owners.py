"""Owners: who made a volume, told by the tags that each tool leaves."""

import pytest

from plimsoll.clouds.aws.owners import IN_TREE as IN_TREE_PROVISIONER
from plimsoll.clouds.aws.owners import owner_of
from plimsoll.model.volume import BY_HAND, OwnerKind

CLAIM = {"kubernetes.io/created-for/pvc/name": "pg-0", "kubernetes.io/created-for/pvc/namespace": "shop"}
STACK = {"aws:cloudformation:stack-name": "billing", "aws:cloudformation:logical-id": "Data"}
TERRAFORM = {"ManagedBy": "terraform"}
GROUP_TAG = "aws:autoscaling:groupName"
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


EKS_NODE = {
    "Name": "prod-general-Node",
    "aws:autoscaling:groupName": "eks-general-40c1f0d2-5d1b-7c9e",
    "aws:ec2:fleet-id": "fleet-cf5d42ba-4115-d9d7-2c9a-0982aa1d53f3",
    "aws:ec2launchtemplate:id": "lt-02bf3a1b5c3debc1b",
    "aws:ec2launchtemplate:version": "1",
    "eks:cluster-name": "prod",
    "eks:nodegroup-name": "general",
    "k8s.io/cluster-autoscaler/enabled": "true",
    "kubernetes.io/cluster/prod": "owned",
}
KARPENTER = {
    "Name": "default-x7k2p",
    "eks:eks-cluster-name": "prod",
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "karpenter.sh/nodeclaim": "default-x7k2p",
    "karpenter.sh/nodepool": "general-purpose",
    "kubernetes.io/cluster/prod": "owned",
}
"""Karpenter writes its tags on the node and on its volumes."""

KARPENTER_NODE = {**KARPENTER, "aws:ec2launchtemplate:id": "lt-0f1e2d3c4b5a69788"}
BEANSTALK = {
    "Name": "shop-prod",
    "elasticbeanstalk:environment-id": "e-3fpmkcp2yv",
    "elasticbeanstalk:environment-name": "shop-prod",
    "aws:cloudformation:logical-id": "AWSEBAutoScalingGroup",
    "aws:cloudformation:stack-name": "awseb-e-3fpmkcp2yv-stack",
    "aws:autoscaling:groupName": "awseb-e-3fpmkcp2yv-stack-AWSEBAutoScalingGroup-1SKTQR",
}
IN_TREE = {
    "Name": "kubernetes-dynamic-pvc-4aacaa9b-6ba5-11e7-8f64-0050569f1b82",
    "KubernetesCluster": "prod",
    "kubernetes.io/cluster/prod": "owned",
    "kubernetes.io/created-for/pv/name": "pvc-4aacaa9b-6ba5-11e7-8f64-0050569f1b82",
    **CLAIM,
}
TASK = "arn:aws:ecs:eu-west-1:111122223333:task/shop/8d9a0d1c2b3e4f5a6b7c8d9e0f1a2b3c"
TASK_TAGS = {
    "AmazonECSCreated": TASK,
    "AmazonECSManaged": "true",
    "aws:ecs:clusterName": "shop",
    "aws:ecs:serviceName": "orders",
}


@pytest.mark.parametrize(
    ("tags", "host_tags", "resource", "kind", "name", "details"),
    [
        (
            {},
            EKS_NODE,
            None,
            OwnerKind.AUTO_SCALING,
            "eks-general-40c1f0d2-5d1b-7c9e",
            {
                "group": "eks-general-40c1f0d2-5d1b-7c9e",
                "launch_template": "lt-02bf3a1b5c3debc1b",
                "service": "eks",
                "node_group": "general",
                "cluster": "prod",
            },
        ),
        *(
            (
                tags,
                host_tags,
                None,
                OwnerKind.AUTO_SCALING,
                "default",
                {"service": "karpenter", "node_class": "default", "node_pool": "general-purpose"},
            )
            for tags, host_tags in ((KARPENTER, KARPENTER_NODE), ({}, KARPENTER_NODE), (KARPENTER, {}))
        ),
        *(
            (
                tags,
                host_tags,
                None,
                OwnerKind.AUTO_SCALING,
                "shop-prod",
                {"service": "elasticbeanstalk", "environment": "shop-prod", "group": BEANSTALK[GROUP_TAG]},
            )
            for tags, host_tags in ((BEANSTALK, BEANSTALK), ({}, BEANSTALK))
        ),
        (
            IN_TREE,
            EKS_NODE,
            None,
            OwnerKind.KUBERNETES,
            "shop/pg-0",
            {
                "claim": "pg-0",
                "namespace": "shop",
                "persistent_volume": "pvc-4aacaa9b-6ba5-11e7-8f64-0050569f1b82",
                "cluster": "prod",
                "provisioner": IN_TREE_PROVISIONER,
            },
        ),
        (TASK_TAGS, {}, TASK, OwnerKind.OPERATOR, "Amazon ECS", {"service": "ecs", "resource": TASK}),
        (TASK_TAGS, {}, None, OwnerKind.OPERATOR, "Amazon ECS", {"service": "ecs", "resource": TASK}),
        ({}, {**EKS_NODE, "AmazonECSManaged": "true"}, None, OwnerKind.AUTO_SCALING, EKS_NODE[GROUP_TAG], None),
    ],
)
def test_the_tags_of_services_as_they_are_in_life_name_their_own_unit(tags, host_tags, resource, kind, name, details):
    owner = owner_of(tags, host_tags, None, resource)
    assert (owner.kind, owner.name) == (kind, name)
    assert details is None or owner.details == details
