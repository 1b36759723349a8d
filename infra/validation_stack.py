"""The validation stack: the functions and the state machine that measure, and the sweep that leaves nothing behind."""

from functools import partial

from aws_cdk import Duration, Stack
from constructs import Construct

from infra.constructs.key import key_of
from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_machine import ServiceMachine
from infra.constructs.validation_machine import ValidationFunctions, validation_definition
from infra.names import Names
from infra.settings import Deployment
from infra.validation_functions import validation_shapes

_LONGEST = Duration.days(7)
"""A volume's measurements take hours; the policy's scratch_hours, at most a week, bound each."""


class ValidationStack(Stack):
    """Validations on demand, and the sweep on a schedule."""

    def __init__(self, scope: Construct, deployment: Deployment) -> None:
        super().__init__(
            scope,
            "validation",
            stack_name=f"plimsoll-{deployment.stage}-validation",
            description="Plimsoll: validations, which measure scratch volumes on bench hosts",
        )
        names = Names(stack=self, stage=deployment.stage)
        key = key_of(self, deployment)
        self.functions = {
            shape.name: ServiceFunction(self, shape, names=names, deployment=deployment, key=key)
            for shape in validation_shapes(names, deployment)
        }
        stepped = {name: each for name, each in self.functions.items() if name != "sweep"}
        called = ValidationFunctions(**{name: each.callee for name, each in stepped.items()})
        self.machine = ServiceMachine(
            self,
            "validation",
            partial(validation_definition, functions=called, at_once=deployment.validation.at_once),
            functions=stepped.values(),
            names=names,
            deployment=deployment,
            key=key,
            longest=_LONGEST,
        )
