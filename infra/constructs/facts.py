"""The bucket of facts: plans of changes, their ledgers, and people's words, which nobody writes over."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.names import Names
from infra.settings import Deployment


class Facts(Construct):
    """The bucket, and beside it one for the log of who asked for what in it.

    Object Lock is on from the start, since S3 turns it on for no bucket that CloudFormation has made without. Without
    the setting it holds nothing back.
    """

    def __init__(self, scope: Construct, *, names: Names, deployment: Deployment, key: kms.IKey | None) -> None:
        super().__init__(scope, "Facts")
        self.access_log = s3.Bucket(
            self,
            "AccessLog",
            # S3 delivers access logs only to buckets that its own keys encrypt.
            encryption=s3.BucketEncryption.S3_MANAGED,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(deployment.logs_days))],
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
        days = deployment.facts_locked_days
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=names.facts,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            versioned=True,
            object_lock_enabled=True,
            object_lock_default_retention=(
                None if days is None else s3.ObjectLockRetention.compliance(Duration.days(days))
            ),
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            server_access_logs_bucket=self.access_log,
            server_access_logs_prefix="facts/",
            removal_policy=RemovalPolicy.RETAIN,
        )
