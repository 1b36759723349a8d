"""The state machine of changes: it makes a plan of a run, or takes one pass of each open plan that is due."""

from dataclasses import dataclass
from typing import Final

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.constructs.function_step import EVERY_ERROR, Callee, step

_PLANS_AT_ONCE: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFunctions:
    """The functions that the states of changes call, each named as its file in `functions`."""

    plan_changes: Callee
    find_changes: Callee
    apply_changes: Callee


def change_definition(scope: Construct, functions: ChangeFunctions) -> sfn.IChainable:
    """The states, from `WhatIsAsked` on. A pass that fails ends that of no other plan."""
    name = sfn.JsonPath.execution_name
    plan = step(
        scope,
        "PlanChanges",
        functions.plan_changes,
        {"name": name, "input": sfn.JsonPath.object_at("$$.Execution.Input")},
    )
    find = step(scope, "FindChanges", functions.find_changes, {"name": name})
    take = step(
        scope,
        "ApplyChanges",
        functions.apply_changes,
        {"plan": sfn.JsonPath.string_at("$.plan"), "name": name},
        answer_at="$.applied",
        answer={"halt": "halt"},
    )
    # The next execution goes on with it, in ten minutes; the functions' alarm tells of it.
    take.add_catch(sfn.Pass(scope, "PassFailed", parameters={}), errors=[EVERY_ERROR], result_path="$.error")
    each = sfn.Map(
        scope,
        "Plans",
        items_path="$.plans",
        item_selector={"plan": sfn.JsonPath.string_at("$$.Map.Item.Value")},
        max_concurrency=_PLANS_AT_ONCE,
        result_path=sfn.JsonPath.DISCARD,
    )
    each.item_processor(take)
    find.next(each).next(sfn.Succeed(scope, "Done"))
    asked = sfn.Choice(scope, "WhatIsAsked")
    asked.when(sfn.Condition.is_present("$.run_id"), plan).otherwise(find)
    plan.next(sfn.Succeed(scope, "Planned"))
    return asked
