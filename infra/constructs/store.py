"""The store: the bucket of runs, reports and measurements, which nobody reads without TLS or from outside."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.names import Names
from infra.settings import Deployment

_ABANDONED_DAYS = 7
"""Days after which the parts of an unfinished upload are deleted."""

_EARLIER_VERSIONS_DAYS = 30

_VALIDATION_DAYS = 8
"""The least that the work of a validation, and who asked for it, is kept: a day longer than one may last."""


class Store(Construct):
    """The bucket, and beside it one for the log of who asked for what in it."""

    def __init__(self, scope: Construct, *, names: Names, deployment: Deployment, key: kms.IKey | None) -> None:
        super().__init__(scope, "Store")
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
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=names.bucket,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            versioned=True,
            lifecycle_rules=_lifecycle(deployment),
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            server_access_logs_bucket=self.access_log,
            server_access_logs_prefix="store/",
            removal_policy=RemovalPolicy.RETAIN,
        )


def _lifecycle(deployment: Deployment) -> list[s3.LifecycleRule]:
    """The age at which objects are deleted. Ledgers and measurements are small, and stay."""
    validation_days = max(deployment.work_days, _VALIDATION_DAYS)
    ages_days = {
        "work/": deployment.work_days,
        "validations/": validation_days,
        "probes/runs/": validation_days,
        "probes/under-way/": validation_days,
        "probes/seen/": deployment.runs_days,
        "slack/": validation_days,
        "changes/": deployment.runs_days,
        "queries/": deployment.work_days,
        "sweeps/": deployment.work_days,
        "runs/": deployment.runs_days,
        "reports/": deployment.runs_days,
    }
    return [
        *(s3.LifecycleRule(prefix=prefix, expiration=Duration.days(days)) for prefix, days in ages_days.items()),
        s3.LifecycleRule(
            abort_incomplete_multipart_upload_after=Duration.days(_ABANDONED_DAYS),
            noncurrent_version_expiration=Duration.days(_EARLIER_VERSIONS_DAYS),
            expired_object_delete_marker=True,
        ),
    ]
