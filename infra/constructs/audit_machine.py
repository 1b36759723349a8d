"""The audit's state machine: plan, inventory by account, audits by lot until no batch is pending, combination by shard,
summary, report."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from aws_cdk import Duration
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.constructs.distributed_map import each_item, nothing, of_item
from infra.constructs.function_step import EVERY_ERROR, Callee, step

BUSY_WAIT_S = 60
"""Seconds between checks whether the other audit has ended."""

_RUN: Final = "run_id"
_of_item = partial(of_item, _RUN)
_each = partial(each_item, topic=_RUN)
"""The common part of a run's maps."""

_LEFT: Final = {"left": "left"}
"""The kept part of the answer about an item that is called for until nothing is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFunctions:
    """The functions that the audit's states call, each named as its file in `functions`."""

    plan: Callee
    take_inventory: Callee
    find_pending: Callee
    audit_batch: Callee
    note_failure: Callee
    combine: Callee
    summarize: Callee
    report: Callee


def audit_definition(
    scope: Construct, functions: AuditFunctions, *, bucket: s3.IBucket, max_concurrency: int
) -> sfn.IChainable:
    """The states, from `Plan` on. States pass keys of `bucket` to each other, never the contents."""
    report = step(scope, "Report", functions.report, {"run_id": sfn.JsonPath.string_at("$.run_id")})
    summarize = step(scope, "Summarize", functions.summarize, {"run_id": sfn.JsonPath.string_at("$.run_id")})
    summarize.next(report).next(sfn.Succeed(scope, "Done"))
    shards = _shards(scope, functions, bucket=bucket, max_concurrency=max_concurrency)
    are_there = sfn.Choice(scope, "IsAnyShard")
    are_there.when(sfn.Condition.number_greater_than("$.shards", 0), shards.next(summarize)).otherwise(summarize)
    pending = _batches(scope, functions, bucket=bucket, max_concurrency=max_concurrency, then=are_there)
    inventory = _inventory(scope, functions, bucket=bucket, max_concurrency=max_concurrency)
    inventory.next(pending)
    return _plan(scope, functions.plan, inventory=inventory, pending=pending)


def _plan(scope: Construct, callee: Callee, *, inventory: sfn.IChainable, pending: sfn.IChainable) -> sfn.IChainable:
    """Plans, and waits or stops while another audit is under way. Each try gets the execution's input."""
    plan = step(
        scope,
        "Plan",
        callee,
        {
            "execution": sfn.JsonPath.execution_id,
            "name": sfn.JsonPath.execution_name,
            "started": sfn.JsonPath.execution_start_time,
            "input": sfn.JsonPath.object_at("$$.Execution.Input"),
        },
    )
    wait = sfn.Wait(scope, "WaitForTheOtherAudit", time=sfn.WaitTime.duration(Duration.seconds(BUSY_WAIT_S)))
    stop = sfn.Fail(
        scope,
        "AnotherAuditIsRunning",
        error="AnotherAuditIsRunning",
        cause_path=sfn.JsonPath.format(
            "{} is under way: start this one again when it has ended, or set when_busy to wait.",
            sfn.JsonPath.string_at("$.busy_with"),
        ),
    )
    choice = sfn.Choice(scope, "MayItBegin")
    choice.when(sfn.Condition.string_equals("$.state", "wait"), wait.next(plan))
    choice.when(sfn.Condition.string_equals("$.state", "stop"), stop)
    choice.when(sfn.Condition.number_greater_than("$.accounts", 0), inventory)
    choice.otherwise(pending)
    return plan.next(choice)


def _inventory(
    scope: Construct, functions: AuditFunctions, *, bucket: s3.IBucket, max_concurrency: int
) -> sfn.DistributedMap:
    """One account an item, which is called for until none of its targets is left.

    The failure of one is kept under its name, and does not stop the others.
    """
    take = step(
        scope, "TakeInventory", functions.take_inventory, _of_item("account"), answer_at="$.taken", answer=_LEFT
    )
    note = step(scope, "NoteAccountFailure", functions.note_failure, _failed_item("account"))
    take.add_catch(note, errors=[EVERY_ERROR], result_path="$.error")
    left = sfn.Choice(scope, "IsAnyTargetLeft")
    left.when(sfn.Condition.number_greater_than("$.taken.left", 0), take).otherwise(nothing(scope, "InventoryTaken"))
    take.next(left)
    return _each(scope, "Inventory", take, "account", "$.accounts_key", bucket=bucket, at_once=max_concurrency)


def _batches(
    scope: Construct, functions: AuditFunctions, *, bucket: s3.IBucket, max_concurrency: int, then: sfn.IChainable
) -> sfn.IChainable:
    """Audits what is pending, and checks again. A lot is called for until none of its batches is left."""
    find = step(
        scope,
        "FindPending",
        functions.find_pending,
        {
            "run_id": sfn.JsonPath.string_at("$.run_id"),
            "execution": sfn.JsonPath.execution_id,
            "at_once": max_concurrency,
        },
    )
    audit = step(scope, "AuditBatches", functions.audit_batch, _of_item("lot"), answer_at="$.audited", answer=_LEFT)
    note = step(scope, "NoteBatchFailure", functions.note_failure, _failed_item("lot"))
    audit.add_catch(note, errors=[EVERY_ERROR], result_path="$.error")
    done = nothing(scope, "BatchesAudited")
    left = sfn.Choice(scope, "IsAnyBatchLeft")
    left.when(sfn.Condition.number_greater_than("$.audited.left", 0), audit).otherwise(done)
    audit.next(left)
    each = _each(scope, "Batches", audit, "lot", "$.pending_key", bucket=bucket, at_once=max_concurrency)
    pending = sfn.Choice(scope, "IsAnyPending")
    pending.when(sfn.Condition.number_greater_than("$.pending", 0), each.next(find)).otherwise(then)
    return find.next(pending)


def _shards(
    scope: Construct, functions: AuditFunctions, *, bucket: s3.IBucket, max_concurrency: int
) -> sfn.DistributedMap:
    """Combines each shard. What one fails on, the report would lack in silence, so the execution fails with it."""
    combine = step(scope, "Combine", functions.combine, _of_item("shard"))
    return _each(
        scope, "Shards", combine, "shard", "$.shards_key", bucket=bucket, at_once=max_concurrency, tolerated_pct=0
    )


def _failed_item(item: str) -> dict[str, Any]:
    return {**_of_item(item), "error": sfn.JsonPath.object_at("$.error")}
