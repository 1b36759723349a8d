"""The sweep's state machine: which accounts, each of them, and what it came to."""

from dataclasses import dataclass

from aws_cdk import aws_s3 as s3
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.constructs.distributed_map import each_item, of_item
from infra.constructs.function_step import Callee, step


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFunctions:
    """The functions that the sweep's states call, each named as its file in `functions`."""

    plan_sweep: Callee
    sweep: Callee
    conclude_sweep: Callee


def sweep_definition(
    scope: Construct, functions: SweepFunctions, *, bucket: s3.IBucket, max_concurrency: int
) -> sfn.IChainable:
    """The states, from `PlanSweep` on. An account that fails is missed by the end, and stops no other."""
    plan = step(
        scope,
        "PlanSweep",
        functions.plan_sweep,
        {"name": sfn.JsonPath.execution_name, "input": sfn.JsonPath.object_at("$$.Execution.Input")},
    )
    sweep = step(scope, "SweepAccount", functions.sweep, of_item("sweep", "account"))
    each = each_item(
        scope, "Accounts", sweep, "account", "$.accounts_key", topic="sweep", bucket=bucket, at_once=max_concurrency
    )
    conclude = step(scope, "ConcludeSweep", functions.conclude_sweep, {"sweep": sfn.JsonPath.string_at("$.sweep")})
    done = sfn.Succeed(scope, "Swept")
    choice = sfn.Choice(scope, "IsAnyAccount")
    choice.when(sfn.Condition.number_greater_than("$.accounts", 0), each.next(conclude).next(done)).otherwise(done)
    return plan.next(choice)
