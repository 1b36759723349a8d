"""The stack of changes: the bucket of facts, the switch, and the functions and state machine that carry plans out."""

from functools import partial
from typing import Final

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from infra.change_functions import change_shapes
from infra.constructs.alarms import Alarms, alarm_action
from infra.constructs.change_machine import ChangeFunctions, change_definition
from infra.constructs.facts import Facts
from infra.constructs.key import key_of
from infra.constructs.service_function import ServiceFunction
from infra.constructs.service_machine import ServiceMachine
from infra.constructs.triggers import DeadLetterQueue, ScheduledStart
from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment
from plimsoll.clouds.aws.names import CHANGES_GO

_PASSES: Final = "rate(10 minutes)"
"""When plans are looked at, as often as the command line's loop looks while something moves."""

_LONGEST: Final = Duration.hours(2)
"""Far longer than a pass of each plan takes, retries included."""


class ChangeStack(Stack):
    """Changes on a schedule, of plans that are made on request."""

    def __init__(self, scope: Construct, deployment: Deployment) -> None:
        super().__init__(
            scope,
            "change",
            stack_name=f"plimsoll-{deployment.stage}-change",
            description="Plimsoll: changes, which carry approved plans out and take back what did harm",
        )
        names = Names(stack=self, stage=deployment.stage)
        key = key_of(self, deployment)
        undelivered = DeadLetterQueue(self, key=key).queue
        facts = Facts(self, names=names, deployment=deployment, key=key)
        ssm.StringParameter(
            self,
            "Switch",
            parameter_name=names.change_switch,
            description=f"Plimsoll begins changes while this is {CHANGES_GO}; anything else ends what has not begun",
            string_value=CHANGES_GO,
        )
        self.functions = {
            shape.name: ServiceFunction(self, shape, names=names, deployment=deployment, key=key)
            for shape in change_shapes(names, deployment)
        }
        called = ChangeFunctions(**{name: each.callee for name, each in self.functions.items()})
        self.machine = ServiceMachine(
            self,
            "change",
            partial(change_definition, functions=called),
            functions=self.functions.values(),
            names=names,
            deployment=deployment,
            key=key,
            longest=_LONGEST,
        )
        ScheduledStart(
            self,
            name=names.machine("change"),
            says="Takes a pass of every plan of changes that is due",
            expression=_PASSES,
            zone=deployment.time_zone,
            begins=Grant(actions=("states:StartExecution",), resources=(names.machine_arn("change"),)),
            target=partial(targets.StepFunctionsStartExecution, self.machine.machine),
            undelivered=undelivered,
            key=key,
            role_path=deployment.written_role_path,
        )
        alarms = Alarms(self, prefix=names.prefix, action=alarm_action(self, names=names, deployment=deployment))
        alarms.of_machine("change", self.machine.machine, then="The next pass goes on, in ten minutes.")
        alarms.of_functions("change", (each.function for each in self.functions.values()))
        alarms.of_queue("change", undelivered)
        CfnOutput(self, "FactsBucket", value=facts.bucket.bucket_name, description="Plans, ledgers, and people's words")
        CfnOutput(
            self,
            "StateMachine",
            value=self.machine.machine.state_machine_arn,
            description="Make plans of changes with this",
        )
