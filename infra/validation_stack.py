"""The validation stack: the functions and the state machine that measure, and the sweep that leaves nothing behind."""

from functools import partial

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.alarms import Alarms, alarm_action, own_metric
from infra.constructs.key import key_of
from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_machine import ServiceMachine
from infra.constructs.sweep_schedule import Sweeping
from infra.constructs.triggers import DeadLetterQueue
from infra.constructs.validation_machine import ValidationFunctions, validation_definition
from infra.names import Names
from infra.settings import Deployment
from infra.validation_functions import SWEEPING, validation_shapes

_LONGEST = Duration.days(7)
"""A volume's measurements take hours; the policy's scratch_hours, at most a week, bound each."""

_HOURS_ALIVE = 6
"""Hours in a row with too many scratch volumes. Two validations at once do not last that long."""


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
        undelivered = DeadLetterQueue(self, key=key).queue
        self.functions = {
            shape.name: ServiceFunction(self, shape, names=names, deployment=deployment, key=key)
            for shape in validation_shapes(names, deployment)
        }
        stepped = {name: each for name, each in self.functions.items() if name not in SWEEPING}
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
        sweeping = {name: self.functions[name] for name in SWEEPING}
        self.sweep = Sweeping(
            self, sweeping, names=names, deployment=deployment, key=key, undelivered=undelivered
        ).machine
        self._watch(names, deployment, undelivered)
        CfnOutput(
            self,
            "StateMachine",
            value=self.machine.machine.state_machine_arn,
            description="Start validations with this",
        )

    def _watch(self, names: Names, deployment: Deployment, undelivered: sqs.IQueue) -> None:
        alarms = Alarms(self, prefix=names.prefix, action=alarm_action(self, names=names, deployment=deployment))
        alarms.of_machine(
            "validation",
            self.machine.machine,
            then="Its measurements are kept, and the sweep deletes its scratch volumes: start another for the rest.",
        )
        for kind, of_it in (("validation", False), ("sweep", True)):
            called = (each.function for name, each in self.functions.items() if (name in SWEEPING) == of_it)
            alarms.of_functions(kind, called)
        alarms.of_machine(
            "sweep", self.sweep.machine, then="The next one looks again; `plimsoll sweep` does it by hand."
        )
        alarms.of_queue("sweep", undelivered)
        alarms.when(
            "scratch-unswept",
            own_metric(names.prefix, "scratch_unswept", statistic="Maximum"),
            reaches=1,
            says="A scratch volume may be where the sweep could not look: the log of conclude_sweep names the place "
            "and says why. `plimsoll sweep` looks there by hand.",
        )
        alarms.when(
            "scratch-left",
            own_metric(names.prefix, "scratch_left", statistic="Maximum"),
            reaches=1,
            says="A scratch volume is past its deadline and could not be deleted: the sweep's log says what stands "
            "in the way, and `plimsoll sweep` deletes it by hand.",
        )
        alarms.when(
            "scratch-alive",
            own_metric(names.prefix, "scratch_alive", statistic="Minimum"),
            reaches=deployment.validation.at_once + 1,
            says="More scratch volumes are there than measurements may be under way: see the validations in Step "
            "Functions.",
            periods=_HOURS_ALIVE,
        )
