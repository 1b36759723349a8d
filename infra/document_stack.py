"""The documents that run on hosts, as plain CloudFormation templates for each account and region with hosts."""

from typing import Final

from aws_cdk import DefaultStackSynthesizer, Stack
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from infra.settings import Deployment
from plimsoll.clouds.aws.names import DOCUMENT_NAME, PROBE_DOCUMENT_NAME
from plimsoll_measure.bench.document import document, version_name

_PATHS: Final = "aws:cdk:enable-path-metadata"


class DocumentStack(Stack):
    """A document with the version that this Plimsoll asks for. No role of the service may write it."""

    def __init__(self, scope: Construct, name: str, *, deployment: Deployment, document_name: str, says: str) -> None:
        super().__init__(
            scope,
            name,
            stack_name=f"plimsoll-{deployment.stage}-{name}",
            description=f"Plimsoll: {says}",
            synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
        )
        self.node.set_context(_PATHS, value=False)
        ssm.CfnDocument(
            self,
            "Document",
            name=document_name,
            content=document(document_name),
            document_type="Command",
            document_format="JSON",
            target_type="/AWS::EC2::Instance",
            update_method="NewVersion",
            version_name=version_name(document_name),
        )


def probe_document(scope: Construct, deployment: Deployment) -> DocumentStack:
    """The document of probes."""
    return DocumentStack(
        scope,
        "probe-document",
        deployment=deployment,
        document_name=PROBE_DOCUMENT_NAME,
        says="the document that reads what hosts count of their volumes; it does no I/O",
    )


def benchmark_document(scope: Construct, deployment: Deployment) -> DocumentStack:
    """The document that measures."""
    return DocumentStack(
        scope,
        "benchmark-document",
        deployment=deployment,
        document_name=DOCUMENT_NAME,
        says="the document that measures scratch volumes on bench hosts",
    )
