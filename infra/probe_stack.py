"""The probe's stack: the functions and the state machine that read hosts."""

from functools import partial
from typing import Final

from aws_cdk import CfnOutput, Duration, Stack
from constructs import Construct

from infra.constructs.alarms import Alarms, alarm_action
from infra.constructs.key import key_of
from infra.constructs.probe_machine import ProbeFunctions, probe_definition
from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_machine import ServiceMachine
from infra.names import Names
from infra.probe_functions import probe_shapes
from infra.settings import Deployment

_LONGEST: Final = Duration.days(2)
"""A host reads for a day at most; what is not heard of then is given up within the hour."""


class ProbeStack(Stack):
    """Probes on request."""

    def __init__(self, scope: Construct, deployment: Deployment) -> None:
        super().__init__(
            scope,
            "probe",
            stack_name=f"plimsoll-{deployment.stage}-probe",
            description="Plimsoll: probes, which read once a second what hosts count of their volumes",
        )
        names = Names(stack=self, stage=deployment.stage)
        key = key_of(self, deployment)
        self.functions = {
            shape.name: ServiceFunction(self, shape, names=names, deployment=deployment, key=key)
            for shape in probe_shapes(names, deployment)
        }
        called = ProbeFunctions(**{name: each.callee for name, each in self.functions.items()})
        self.machine = ServiceMachine(
            self,
            "probe",
            partial(probe_definition, functions=called),
            functions=self.functions.values(),
            names=names,
            deployment=deployment,
            key=key,
            longest=_LONGEST,
        )
        alarms = Alarms(self, prefix=names.prefix, action=alarm_action(self, names=names, deployment=deployment))
        alarms.of_machine(
            "probe", self.machine.machine, then="Hosts stop reading by themselves: start another for what is missing."
        )
        alarms.of_functions("probe", (each.function for each in self.functions.values()))
        CfnOutput(
            self,
            "StateMachine",
            value=self.machine.machine.state_machine_arn,
            description="Start probes with this",
        )
