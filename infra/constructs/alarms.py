"""Alarms on the service's own health and on volumes near their ceilings, and the topic that they write to."""

from collections.abc import Iterable, Mapping
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.names import METRICS, Names
from infra.settings import Deployment

HOUR = Duration.hours(1)


def own_metric(service: str, name: str, *, statistic: str = "Sum", period: Duration = HOUR) -> cloudwatch.Metric:
    """A metric that the functions of that service count themselves. Each deployment has its own."""
    return cloudwatch.Metric(
        namespace=METRICS, metric_name=name, dimensions_map={"service": service}, statistic=statistic, period=period
    )


def alarm_topic(scope: Construct, *, names: Names, deployment: Deployment, key: kms.IKey | None) -> sns.Topic | None:
    """The topic that only this account's alarms may write to; None where the settings name another."""
    if deployment.alarm_topic_arn is not None:
        return None
    topic = sns.Topic(scope, "Alarms", topic_name=names.alarms, master_key=key, enforce_ssl=True)
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={"StringEquals": {"aws:SourceAccount": names.stack.account}},
        )
    )
    if deployment.alarm_email is not None:
        topic.add_subscription(subscriptions.EmailSubscription(deployment.alarm_email))
    return topic


def alarm_action(scope: Construct, *, names: Names, deployment: Deployment) -> cloudwatch.IAlarmAction:
    """The action of an alarm: it writes to the topic."""
    arn = deployment.alarm_topic_arn or names.arn("sns", names.alarms)
    return actions.SnsAction(sns.Topic.from_topic_arn(scope, "AlarmTopic", arn))


class Alarms(Construct):
    """Alarms that write to a topic when they begin and when they end; `prefix` begins the name of each."""

    def __init__(self, scope: Construct, *, prefix: str, action: cloudwatch.IAlarmAction) -> None:
        super().__init__(scope, "Alarms")
        self._prefix = prefix
        self._action = action
        self.made: list[cloudwatch.Alarm] = []

    def when(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        *,
        reaches: float,
        says: str,
        periods: int = 1,
        silence_is_fine: bool = True,
    ) -> cloudwatch.Alarm:
        """An alarm for a metric that reaches a threshold. No data is no alarm where the service may sleep."""
        alarm = cloudwatch.Alarm(
            self,
            "".join(word.capitalize() for word in name.split("-")),
            alarm_name=f"{self._prefix}-{name}",
            alarm_description=says,
            metric=metric,
            threshold=reaches,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=_FINE if silence_is_fine else cloudwatch.TreatMissingData.BREACHING,
        )
        alarm.add_alarm_action(self._action)
        alarm.add_ok_action(self._action)
        self.made.append(alarm)
        return alarm

    def of_machine(self, kind: str, machine: sfn.StateMachine, *, then: str) -> None:
        """An execution that failed, ran out of time or was aborted; `then` says what to do about it."""
        ended = {
            "failed": machine.metric_failed(period=HOUR, statistic="Sum"),
            "timed_out": machine.metric_timed_out(period=HOUR, statistic="Sum"),
            "aborted": machine.metric_aborted(period=HOUR, statistic="Sum"),
        }
        self.when(
            f"{kind}-ended-badly",
            _sum(ended, f"{kind}s that failed, timed out or were aborted"),
            reaches=1,
            says=f"A {kind} did not end: open the execution in Step Functions, and see the state that failed. {then}",
        )

    def of_functions(self, kind: str, functions: Iterable[lambda_.IFunction]) -> None:
        """Functions that fail often in an hour, or that Lambda has no room for."""
        listed = list(functions)
        errors = {f"e{number}": each.metric_errors(period=HOUR, statistic="Sum") for number, each in enumerate(listed)}
        self.when(
            f"{kind}-functions-fail",
            _sum(errors, f"errors of the {kind}'s functions"),
            reaches=_OFTEN,
            says=f"Functions of the {kind} failed {_OFTEN} times in an hour, retries included: see their "
            "logs by the name of the execution.",
        )
        turned = {
            f"t{number}": each.metric_throttles(period=HOUR, statistic="Sum") for number, each in enumerate(listed)
        }
        self.when(
            f"{kind}-functions-throttled",
            _sum(turned, f"throttles of the {kind}'s functions"),
            reaches=_OFTEN,
            says=f"Lambda had no room for functions of the {kind}: lower max_concurrency, or raise "
            "the account's limit.",
        )

    def of_queue(self, kind: str, queue: sqs.IQueue, *, says: str | None = None) -> None:
        """Something that should have begun and did not: by a schedule, unless `says` names something else."""
        self.when(
            f"{kind}-not-begun",
            queue.metric_approximate_number_of_messages_visible(period=Duration.minutes(5), statistic="Maximum"),
            reaches=1,
            says=says or f"The schedule's {kind} did not begin: the message in the queue says why.",
        )


_FINE = cloudwatch.TreatMissingData.NOT_BREACHING

_OFTEN = 5
"""Errors in an hour that are an alarm. One failure alone is at least three attempts."""


def _sum(metrics: Mapping[str, Any], label: str) -> cloudwatch.MathExpression:
    return cloudwatch.MathExpression(expression="+".join(metrics), using_metrics=metrics, label=label, period=HOUR)
