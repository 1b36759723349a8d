"""Who is told of alarms: a topic of the deployment's own, or one that the settings name."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.names import Names
from infra.settings import Deployment


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


def tells(scope: Construct, *, names: Names, deployment: Deployment) -> cloudwatch.IAlarmAction:
    """What an alarm does: it tells the topic."""
    arn = deployment.alarm_topic_arn or names.arn("sns", names.alarms)
    return actions.SnsAction(sns.Topic.from_topic_arn(scope, "AlarmTopic", arn))
