"""`plimsoll leftovers` knows every kind of resource that a stack names, or leaves when it is deleted."""

import boto3
import pytest

from plimsoll_service.bootstrap.leftovers import LEFTOVER_KINDS
from tests.infra.templates import MEMBERS, SERVICE, plain

DOCUMENTS = ("probe-document",)


def is_named(kind, resource):
    """Whether the resource has a physical name of Plimsoll's own."""
    last = kind.rpartition("::")[2]
    names = [plain(resource.get("Properties", {}).get(key, "")) for key in ("Name", f"{last}Name")]
    return any("plimsoll" in str(name).lower() for name in names)


def test_each_kind_that_is_named_or_stays_is_listed(templates):
    resources = [
        (resource["Type"], resource)
        for stack in (*SERVICE, *MEMBERS, *DOCUMENTS)
        for resource in templates[stack]["Resources"].values()
    ]
    found = {kind for kind, each in resources if is_named(kind, each) or each.get("DeletionPolicy") == "Retain"}
    assert len(found) > 12
    assert found <= {kind.type for kind in LEFTOVER_KINDS}


@pytest.mark.parametrize("kind", LEFTOVER_KINDS, ids=lambda kind: kind.type)
def test_each_list_is_a_call_of_its_service_with_that_answer(kind):
    client = boto3.Session("testing", "testing", region_name="eu-west-1").client(kind.service)
    model = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[kind.operation])
    items = model.output_shape.members[kind.items]
    assert items.type_name == "list"
    assert (kind.name in items.member.members) if kind.name else items.member.type_name == "string"
    assert set(kind.request) <= set(model.input_shape.members)
    assert client.can_paginate(kind.operation) or "NextToken" in model.output_shape.members
