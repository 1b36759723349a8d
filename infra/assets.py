"""Assets: the functions' code as CDK takes it."""

from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile, ZipInfo

from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.packaging.zips import Target, name_of, zip_of
from infra.settings import Deployment


def code_of(scope: Construct, function: str, deployment: Deployment, key: kms.IKey | None) -> lambda_.Code:
    """The zip of a function for the deployment's processor, or an empty one where only templates are looked at.

    A zip that was signed is taken from where it is kept.
    """
    target = Target(
        architecture=deployment.architecture, python=deployment.wheels_python, google=deployment.audits_google
    )
    if deployment.signed_code is not None:
        bucket, _, prefix = deployment.signed_code.partition("/")
        place = s3.Bucket.from_bucket_name(scope, "SignedCode", bucket)
        name = "/".join(filter(None, (prefix, name_of(function, target))))
        return lambda_.Code.from_bucket_v2(place, name, source_kms_key=key)
    built = _empty_zip() if deployment.assets == "empty" else zip_of(function, target)
    return lambda_.Code.from_asset(str(built), source_kms_key=key)


def _empty_zip() -> Path:
    """A zip with nothing in it but a name."""
    path = Path(mkdtemp(prefix="plimsoll-assets-")) / "empty.zip"
    with ZipFile(path, "w") as zipped:
        zipped.writestr(ZipInfo("empty"), b"")
    return path
