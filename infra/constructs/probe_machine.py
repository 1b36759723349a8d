"""The probe's state machine: begin on every host, then wait and look until each has ended."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.constructs.function_step import Callee, step
from plimsoll_measure.probe import PROBES, ProbeStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFunctions:
    """The functions that the probe's states call, each named as its file in `functions`."""

    begin_probe: Callee
    look_at_probe: Callee


def probe_definition(scope: Construct, functions: ProbeFunctions) -> sfn.IChainable:
    """The states, from `BeginProbe` on."""
    begin = step(
        scope,
        "BeginProbe",
        functions.begin_probe,
        {"name": sfn.JsonPath.execution_name, "input": sfn.JsonPath.object_at("$$.Execution.Input")},
    )
    look = step(scope, "LookAtProbe", functions.look_at_probe, {"probe": sfn.JsonPath.execution_name})
    pause = Duration.seconds(PROBES.steps[ProbeStep.LOOK].every_s)
    wait = sfn.Wait(scope, "WaitForHosts", time=sfn.WaitTime.duration(pause))
    reading = sfn.Choice(scope, "DoesAnyHostRead")
    reading.when(sfn.Condition.number_equals("$.reading", 0), sfn.Succeed(scope, "Done")).otherwise(wait)
    wait.next(look)
    look.next(reading)
    return begin.next(reading)
