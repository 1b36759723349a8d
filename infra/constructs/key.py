"""The KMS key that encrypts what the service keeps, if one is named."""

from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.settings import Deployment


def key_of(scope: Construct, deployment: Deployment) -> kms.IKey | None:
    """The key that the settings name, None where AWS's own keys are to serve.

    Its policy must let CloudWatch Logs use it; that is its owner's, and not changed from here.
    """
    if deployment.kms_key_arn is None:
        return None
    return kms.Key.from_key_arn(scope, "Key", deployment.kms_key_arn)
