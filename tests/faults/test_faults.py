"""A few dozen audits under faults on every push, each a law of its own; `make faults` tries thousands."""

import pytest

from .lab import opened
from .law import IDENTICAL
from .on_disk import FILES, ON_DISK, READERS, plan_on_disk
from .plan import ALWAYS, Plan, Strike

pytestmark = pytest.mark.once

SEEDS = (160, 175, 186, 190, 201, 218, 403, 413, 426, 430, 435, 457)


@pytest.fixture(scope="module")
def lab():
    with opened() as found:
        yield found


def plan(scenario, operation, fault, *, often=ALWAYS, where=0.0, killed_at=()):
    strike = Strike(operation=operation, fault=fault, often=often, share=0.2, which=0.0, where=where, all_items=True)
    return Plan(seed=0, scenario=scenario, strikes=(strike,), killed_at=killed_at)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.release if place % 2 else ()) for place, seed in enumerate(SEEDS)]
)
def test_every_volume_has_its_answer_or_is_named(lab, seed):
    tried = lab.try_plan(lab.plan(seed))
    assert not tried.breaches, str(tried)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_file_is_named_by_what_reads_it(lab, file, reader):
    damage = ON_DISK[(FILES.index(file) + list(READERS).index(reader)) % len(ON_DISK)]
    tried = lab.try_plan(plan_on_disk("aws", file, damage, reader, where=0.4))
    assert not tried.breaches, str(tried)


@pytest.mark.parametrize("scenario", ["aws-organization", pytest.param("google", marks=pytest.mark.release)])
def test_what_is_killed_is_resumed_to_the_same_answers(lab, scenario):
    tried = lab.try_plan(Plan(seed=0, scenario=scenario, strikes=(), killed_at=(0.3, 0.8)))
    assert tried.kills
    assert not tried.breaches, str(tried)
    assert set(tried.outcomes.values()) == {IDENTICAL}


@pytest.mark.parametrize(
    ("scenario", "operation", "fault", "killed_at"),
    [
        ("aws-organization", "GetProducts", "item-lost", ()),
        ("aws-organization", "ListAccounts", "item-lost", (0.6,)),
        ("aws-organization", "DescribeVolumes", "empty-list", (0.6,)),
        ("google-folder", "projects.list", "empty-list", (0.2,)),
        ("google-folder", "disks.aggregatedList", "empty-list", ()),
    ],
)
@pytest.mark.release
def test_what_a_list_lacks_is_named_or_cannot_be_told_from_life(lab, scenario, operation, fault, killed_at):
    tried = lab.try_plan(plan(scenario, operation, fault, killed_at=killed_at))
    assert tried.injected
    assert not tried.breaches, str(tried)


@pytest.mark.parametrize(
    ("scenario", "operation"),
    [("aws", "GetMetricData"), ("aws", "DescribeVolumes"), ("google", "ListTimeSeries")],
)
def test_a_dropped_connection_costs_nothing_where_the_next_call_goes_well(lab, scenario, operation):
    tried = lab.try_plan(plan(scenario, operation, "reset-after", often="once"))
    assert tried.injected
    assert set(tried.outcomes.values()) == {IDENTICAL}
