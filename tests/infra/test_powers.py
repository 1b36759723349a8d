"""What the roles of a deployment could do to data, a sentence each, computed from every statement of its templates.

Whoever may write a document that it may also send runs anything as root where it may send it, and so reads and writes
all that is attached there.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from infra.constructs.network import INTERFACES
from plimsoll.clouds.aws.permissions import CHANGED_CONDITION, MADE_AS_SCRATCH, MARKING_CONDITION, SCRATCH_CONDITION
from tests.infra.templates import MEMBERS, SERVICE, Templates, listed, plain

ON_OUR_OWN = {
    *("dynamodb", "events", "kms", "lambda", "logs", "organizations", "pricing", "s3", "secretsmanager", "sqs"),
    *("aco-automation", "cloudtrail", "cloudwatch", "states", "sts", "xray"),
}
"""Services in which roles reach no volume, instance or command."""
HARMLESS = {
    *("ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:DescribeRegions"),
    *("ec2:DescribeVolumes", "ec2:DescribeVolumesModifications", "ssm:CancelCommand"),
    *("ssm:DescribeInstanceInformation", "ssm:GetCommandInvocation", "ssm:GetDocument", "ssm:GetParameter"),
}
"""Actions on volumes, instances and commands that read no data, write none and start nothing."""
TAKES_AWAY = {"ec2:AttachVolume", "ec2:DeleteVolume", "ec2:DetachVolume"}
WRITES_DOCUMENTS = {"ssm:AddTagsToResource", "ssm:CreateDocument", "ssm:UpdateDocument"}


@dataclass
class Powers:
    """What one role could do: documents that it sends and writes, where it sends them, what it copies and takes away,
    what it tags, and what it modifies."""

    sends: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    copies: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    modifies: set[str] = field(default_factory=set)

    @property
    def root_on(self) -> frozenset[str]:
        return frozenset(self.hosts if self.sends & self.writes else ())


def powers_of(templates: Templates) -> dict[str, Powers]:
    """The powers of each role, by its name."""
    found: dict[str, Powers] = defaultdict(Powers)
    for stack in (*SERVICE, *MEMBERS):
        if not templates.path(stack).exists():
            continue
        roles = {
            name.partition("/")[2]: each.get("RoleName", name)
            for name, each in templates.resources("AWS::IAM::Role", (stack,)).items()
        }
        for policy in templates.resources("AWS::IAM::Policy", (stack,)).values():
            for role in policy["Roles"]:
                for statement in policy["PolicyDocument"]["Statement"]:
                    note(found[plain(roles[role["Ref"]]).removeprefix("plimsoll-main-")], plain(statement))
    return found


def note(powers: Powers, statement: dict) -> None:
    """Adds what a statement allows. An action that nobody has judged is an error."""
    assert statement["Effect"] == "Allow"
    condition = statement.get("Condition", {})
    for action in listed(statement["Action"]):
        for resource in listed(statement["Resource"]):
            kind, _, name = resource.rpartition(":")[2].partition("/")
            if action == "ssm:SendCommand" and kind == "document":
                powers.sends.add(name)
            elif action == "ssm:SendCommand":
                powers.hosts.add(f"instances {tagged(condition)}")
            elif action in WRITES_DOCUMENTS:
                powers.writes.add(name)
            elif action in {"ec2:CopyVolumes", "ec2:CreateVolume"} and condition.get("Null") == MADE_AS_SCRATCH["Null"]:
                continue  # makes a volume, which is scratch
            elif action in INTERFACES.actions and condition == INTERFACES.conditions:
                continue  # Lambda's own calls: those of a function's code carry the function's ARN
            elif action == "ec2:CopyVolumes":
                powers.copies.add(f"volumes {tagged(condition)}")
            elif action in TAKES_AWAY and kind == "volume":
                powers.changes.add("scratch volumes" if condition == SCRATCH_CONDITION else "any volume")
            elif action == "ec2:CreateTags" and set(condition.get("StringEquals", ())) == {"ec2:CreateAction"}:
                continue  # of what is being made
            elif action == "ec2:CreateTags":
                is_bound = json.dumps(condition) == json.dumps(MARKING_CONDITION)
                powers.tags.add("the tag of a plan" if is_bound else "any tag")
            elif action == "ec2:ModifyVolume":
                powers.modifies.add(
                    "volumes with the tag of a plan" if condition == CHANGED_CONDITION else "any volume"
                )
            elif action not in {*TAKES_AWAY, *HARMLESS}:
                assert action.partition(":")[0] in ON_OUR_OWN, f"{action} on {resource}: say what it can do to data"


def tagged(condition: dict) -> str:
    """How a condition narrows instances or volumes down by a tag."""
    tags = [
        f"{key.partition('/')[2]}={value}"
        for key, value in condition.get("StringEquals", {}).items()
        if key.startswith(("aws:ResourceTag/", "ssm:resourceTag/"))
    ]
    return f"tagged {tags[0]}" if len(tags) == 1 else "of any kind"


def sentences(templates: Templates) -> list[str]:
    """Who can read data, who can write it, and who can start commands."""
    found = powers_of(templates)

    def those(what) -> str:
        by_place: dict[frozenset[str], list[str]] = defaultdict(list)
        for role, powers in found.items():
            if what(powers):
                by_place[frozenset(what(powers))].append(role)
        parts = [f"{', '.join(sorted(roles))} ({' and '.join(sorted(place))})" for place, roles in by_place.items()]
        return "; ".join(sorted(parts)) or "nobody"

    def commands(powers: Powers) -> set[str]:
        return {f"{name}, {'its own' if name in powers.writes else 'locked'}" for name in powers.sends} | powers.hosts

    return [
        f"Read data as root: {those(lambda each: each.root_on)}.",
        f"Read data by a copy: {those(lambda each: each.copies)}.",
        f"Write data as root: {those(lambda each: each.root_on)}.",
        f"Attach, detach or delete: {those(lambda each: each.changes)}.",
        f"Start commands: {those(commands)}.",
        f"Tag volumes that exist: {those(lambda each: each.tags)}.",
        f"Modify volumes: {those(lambda each: each.modifies)}.",
    ]


BENCHES = "instances tagged plimsoll:bench=true and instances tagged plimsoll:in-place=true"
MEASURERS = "plimsoll-validation, propose, send_command"
CHANGES = "Attach, detach or delete: attach_scratch, clean_up, plimsoll-validation, sweep (scratch volumes)."
MODIFIERS = (
    "Tag volumes that exist: plan_changes, plimsoll-change-plan (the tag of a plan).",
    "Modify volumes: apply_changes, plimsoll-change (volumes with the tag of a plan).",
)
PROBES = "begin_probe, plimsoll-probe (Plimsoll-Probe, locked and instances of any kind)"


def test_who_can_read_data_write_data_and_start_commands(templates):
    assert sentences(templates) == [
        f"Read data as root: {MEASURERS} ({BENCHES}).",
        "Read data by a copy: nobody.",
        f"Write data as root: {MEASURERS} ({BENCHES}).",
        CHANGES,
        f"Start commands: {PROBES}; {MEASURERS} (Plimsoll-Benchmark, its own and {BENCHES}).",
        *MODIFIERS,
    ]


def test_the_same_where_copies_are_switched_on_and_the_document_is_locked(templates_with_options):
    assert sentences(templates_with_options) == [
        "Read data as root: nobody.",
        "Read data by a copy: create_scratch, plimsoll-validation (volumes tagged plimsoll:copy=true).",
        "Write data as root: nobody.",
        CHANGES,
        f"Start commands: {PROBES}; {MEASURERS} (Plimsoll-Benchmark, locked and {BENCHES}).",
        *MODIFIERS,
    ]


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": "ec2:CreateSnapshot", "Resource": "arn:aws:ec2:*:*:volume/*"},
        {"Action": "ebs:GetSnapshotBlock", "Resource": "arn:aws:ec2:*::snapshot/*"},
        {"Action": "ssm:StartSession", "Resource": "arn:aws:ec2:*:*:instance/*"},
        {"Action": "ec2:CreateVolume", "Resource": "arn:aws:ec2:*::snapshot/*"},
    ],
)
def test_an_action_that_nobody_judged_is_seen(statement):
    with pytest.raises(AssertionError, match="say what it can do"):
        note(Powers(), {"Effect": "Allow", **statement})


def test_a_copy_of_any_volume_and_a_change_of_any_volume_are_told():
    powers = Powers()
    note(powers, {"Effect": "Allow", "Action": "ec2:CopyVolumes", "Resource": "arn:aws:ec2:*:*:volume/vol-*"})
    note(powers, {"Effect": "Allow", "Action": "ec2:DeleteVolume", "Resource": "arn:aws:ec2:*:*:volume/*"})
    note(powers, {"Effect": "Allow", "Action": "ec2:ModifyVolume", "Resource": "arn:aws:ec2:*:*:volume/*"})
    note(powers, {"Effect": "Allow", "Action": "ec2:CreateTags", "Resource": "arn:aws:ec2:*:*:volume/*"})
    assert (powers.copies, powers.changes) == ({"volumes of any kind"}, {"any volume"})
    assert (powers.modifies, powers.tags) == ({"any volume"}, {"any tag"})
