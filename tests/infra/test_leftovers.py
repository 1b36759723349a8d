"""`plimsoll leftovers` knows every kind of resource that a stack names, or leaves when it is deleted."""

import re

import boto3
import pytest

from plimsoll.clouds.aws.names import (
    AUDIT_ROLE,
    CHANGE_PLAN_ROLE,
    CHANGE_ROLE,
    DOCUMENT_NAME,
    PROBE_DOCUMENT_NAME,
    PROBE_ROLE,
    VALIDATION_ROLE,
)
from plimsoll_service.bootstrap.leftovers import LEFTOVER_KINDS
from tests.infra.templates import MEMBERS, SERVICE, plain

PARTS = {"AWS::AccountId": "111122223333", "AWS::Region": "eu-west-1", "AWS::Partition": "aws"}
AS_LISTED = {
    "AWS::SNS::Topic": "arn:aws:sns:eu-west-1:111122223333:{}",
    "AWS::SQS::Queue": "https://sqs.eu-west-1.amazonaws.com/111122223333/{}",
    "AWS::StepFunctions::StateMachine": "arn:aws:states:eu-west-1:111122223333:stateMachine:{}",
}
"""How a service lists what has a name, where it lists more than that."""

NAMED_BY_THEIR_STACK = {"AWS::SQS::Queue"}
"""Kinds without a name in a template, which lists show by the name that CloudFormation makes of the stack's."""

MADE_WITHOUT_A_STACK = {"AWS::CloudFormation::Stack", "AWS::CloudFormation::StackSet", "AWS::EC2::Volume"}
"""Stacks themselves, and what the service makes while it works."""


def name_of(kind, resource):
    """The physical name that a template gives a resource, if that is Plimsoll's own."""
    last, properties = kind.rpartition("::")[2], resource.get("Properties", {})
    names = [plain(properties.get(key, "")) for key in ("Name", f"{last}Name")]
    names += [plain(each["Name"]) for key, each in properties.items() if key == f"{last}Input"]
    for name in names:
        if "plimsoll" in str(name).lower():
            return re.sub(r"\$\{([\w:]+)\}", lambda found: PARTS[found[1]], name)
    return None


@pytest.fixture(scope="module")
def resources(templates, templates_with_options):
    """Every resource of every stack, with its type."""
    stacks = [(templates, stack) for stack in (*SERVICE, *MEMBERS, "probe-document")]
    stacks += [(templates_with_options, stack) for stack in (*SERVICE, *MEMBERS, "benchmark-document")]
    return [(each["Type"], each) for found, stack in stacks for each in found[stack]["Resources"].values()]


def test_the_kinds_that_stacks_name_or_keep_are_those_that_are_listed(resources):
    found = {
        kind
        for kind, each in resources
        if name_of(kind, each) or each.get("DeletionPolicy") == "Retain" or kind in NAMED_BY_THEIR_STACK
    }
    assert found == {kind.type for kind in LEFTOVER_KINDS} - MADE_WITHOUT_A_STACK


def test_each_name_of_a_template_is_found_in_the_list_of_its_kind_and_by_another_stage_if_stages_share_it(resources):
    rows = {kind.type: kind for kind in LEFTOVER_KINDS}
    named = {(kind, name) for kind, each in resources if (name := name_of(kind, each))}
    assert len(named) > 100
    listed = [(rows[kind], AS_LISTED.get(kind, "{}").format(name)) for kind, name in sorted(named)]
    assert [(row.type, name) for row, name in listed if not row.is_meant(name, "main")] == []
    shared = {name for row, name in listed if row.is_meant(name, "trial")}
    roles = {AUDIT_ROLE, CHANGE_PLAN_ROLE, CHANGE_ROLE, PROBE_ROLE, VALIDATION_ROLE}
    assert shared == {*roles, DOCUMENT_NAME, PROBE_DOCUMENT_NAME}


@pytest.mark.parametrize("kind", LEFTOVER_KINDS, ids=lambda kind: kind.type)
def test_each_list_is_a_call_of_its_service_with_that_answer(kind):
    client = boto3.Session("testing", "testing", region_name="eu-west-1").client(kind.service)
    model = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[kind.operation])
    items = model.output_shape.members[kind.items]
    assert items.type_name == "list"
    assert (kind.name in items.member.members) if kind.name else items.member.type_name == "string"
    assert set(kind.request) <= set(model.input_shape.members)
    assert client.can_paginate(kind.operation) or "NextToken" in model.output_shape.members
