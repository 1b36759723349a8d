"""The bucket of facts: plans of changes, their ledgers, and people's words, which nobody writes over."""

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.constructs.logged_bucket import LoggedBucket
from infra.names import Names
from infra.settings import Deployment


class Facts(LoggedBucket):
    """The bucket. Object Lock is on, since S3 turns it on for no bucket that CloudFormation has made without.

    Without the setting it holds nothing back.
    """

    def __init__(self, scope: Construct, *, names: Names, deployment: Deployment, key: kms.IKey | None) -> None:
        days = deployment.facts_locked_days
        locked = None if days is None else s3.ObjectLockRetention.compliance(Duration.days(days))
        more = {"object_lock_enabled": True, "object_lock_default_retention": locked}
        super().__init__(scope, "Facts", names.facts, deployment, key, **more)
