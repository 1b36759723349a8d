"""Assets: the functions' code as CDK takes it."""

from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile, ZipInfo

from aws_cdk import aws_lambda as lambda_

from infra.packaging.zips import zip_of
from infra.settings import Deployment


def code_of(function: str, deployment: Deployment) -> lambda_.Code:
    """The zip of a function for the deployment's processor, or an empty one where only templates are looked at."""
    if deployment.assets == "empty":
        return lambda_.Code.from_asset(str(_empty_zip()))
    built = zip_of(function, architecture=deployment.architecture, python=deployment.wheels_python)
    return lambda_.Code.from_asset(str(built))


def _empty_zip() -> Path:
    """A zip with nothing in it but a name."""
    path = Path(mkdtemp(prefix="plimsoll-assets-")) / "empty.zip"
    with ZipFile(path, "w") as zipped:
        zipped.writestr(ZipInfo("empty"), b"")
    return path
