"""The document in Systems Manager: made where it is missing, given a new version where it is another's."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.bench.document import DOCUMENT_NAME, document, document_hash
from plimsoll.clouds.aws.errors import MEASURING, attempted, code_of
from plimsoll.domain.errors import CloudError
from plimsoll.ports import Target

LOOKS: Final = 10
"""How often a version that has just been made is looked for, a second apart, until it can be run."""

_MISSING: Final = {"InvalidDocument", "InvalidDocumentVersion"}
_THERE_ALREADY: Final = {"DuplicateDocumentVersionName", "DuplicateDocumentContent"}


def ensure_document(ssm: Any, target: Target, sleep: Callable[[float], None] = time.sleep) -> str:
    """The number of the document's version that is exactly this Plimsoll's document.

    A version is found by its name, which is the content's hash, and its content is compared. Commands name the version
    that they run, so the default version is left as it is, and two versions of Plimsoll do not disturb each other.
    """
    content = document()
    name = version_name()
    found = _version(ssm, target, name)
    if found is None:
        _make(ssm, target, content, name)
    for look in range(LOOKS):
        if found is not None and found.get("Status", "Active") == "Active":
            return _checked(found, content, target)
        if look:
            sleep(1.0)
        found = _version(ssm, target, name)
    raise CloudError(
        f"cannot run {DOCUMENT_NAME} in {target}: its version {name} is {(found or {}).get('Status', 'missing')}. Run "
        "again; if it stays so, delete the document in Systems Manager, Documents."
    )


def version_name() -> str:
    """The name of the version with this content."""
    return f"plimsoll-{document_hash()}"


def _version(ssm: Any, target: Target, name: str) -> Mapping[str, Any] | None:
    with attempted(f"read the document {DOCUMENT_NAME} in {target}", "ssm:GetDocument", MEASURING):
        try:
            return dict(ssm.get_document(Name=DOCUMENT_NAME, VersionName=name, DocumentFormat="JSON"))
        except ClientError as error:
            if code_of(error) in _MISSING:
                return None
            raise


def _make(ssm: Any, target: Target, content: Mapping[str, Any], name: str) -> None:
    request = {"Name": DOCUMENT_NAME, "Content": json.dumps(content), "VersionName": name, "DocumentFormat": "JSON"}
    with attempted(f"create the document {DOCUMENT_NAME} in {target}", "ssm:CreateDocument", MEASURING):
        try:
            ssm.create_document(**request, DocumentType="Command", TargetType="/AWS::EC2::Instance")
        except ClientError as error:
            if code_of(error) != "DocumentAlreadyExists":
                raise
        else:
            return
    with attempted(f"update the document {DOCUMENT_NAME} in {target}", "ssm:UpdateDocument", MEASURING):
        try:
            ssm.update_document(**request, DocumentVersion="$LATEST", TargetType="/AWS::EC2::Instance")
        except ClientError as error:
            if code_of(error) not in _THERE_ALREADY:  # another of us was faster
                raise


def _checked(found: Mapping[str, Any], content: Mapping[str, Any], target: Target) -> str:
    try:
        same = json.loads(found["Content"]) == content
    except ValueError:
        same = False
    if not same:
        raise CloudError(
            f"cannot run {DOCUMENT_NAME} in {target}: its version {found.get('VersionName')} is not what this Plimsoll "
            "wrote. See who changed it, and delete the document in Systems Manager, Documents: it is made anew."
        )
    return str(found["DocumentVersion"])
