"""The store: the bucket of runs, reports and measurements."""

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.constructs.logged_bucket import LoggedBucket
from infra.names import Names
from infra.settings import Deployment

_ABANDONED_DAYS = 7
"""Days after which the parts of an unfinished upload are deleted."""

_EARLIER_VERSIONS_DAYS = 30

_VALIDATION_DAYS = 8
"""The least that the work of a validation, and who asked for it, is kept: a day longer than one may last."""


class Store(LoggedBucket):
    """The bucket, whose objects are deleted at an age of their kind."""

    def __init__(self, scope: Construct, *, names: Names, deployment: Deployment, key: kms.IKey | None) -> None:
        super().__init__(scope, "Store", names.bucket, deployment, key, lifecycle_rules=_lifecycle(deployment))


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
