"""A bucket that nobody reads without TLS or from outside, and beside it one for the log of who asked for what in it."""

from typing import Any

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.settings import Deployment


class LoggedBucket(Construct):
    """A bucket that keeps the versions of its objects, and stays when its stack is deleted."""

    def __init__(
        self, scope: Construct, name: str, bucket_name: str, deployment: Deployment, key: kms.IKey | None, **more: Any
    ) -> None:
        super().__init__(scope, name)
        closed: dict[str, Any] = {
            "block_public_access": s3.BlockPublicAccess.BLOCK_ALL,
            "object_ownership": s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            "enforce_ssl": True,
            "removal_policy": RemovalPolicy.RETAIN,
        }
        self.access_log = s3.Bucket(
            self,
            "AccessLog",
            # S3 delivers access logs only to buckets that its own keys encrypt.
            encryption=s3.BucketEncryption.S3_MANAGED,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(deployment.logs_days))],
            **closed,
        )
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=bucket_name,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            versioned=True,
            minimum_tls_version=1.2,
            server_access_logs_bucket=self.access_log,
            server_access_logs_prefix=f"{name.lower()}/",
            **closed,
            **more,
        )
