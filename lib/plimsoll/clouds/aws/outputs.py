"""Outputs: what a command printed, whole from S3 where the API cuts it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.aws.errors import MEASURING, attempted
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.ports import Target

CUT_CHARS: Final = 24_000
"""What GetCommandInvocation gives of a standard output at most (AWS Systems Manager API Reference, read 2026-11-20)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsBucket:
    """Where the whole output of commands is kept: the host's instance profile must be allowed to put it there."""

    name: str
    prefix: str = "plimsoll"

    @property
    def storage(self) -> Mapping[str, str]:
        """What SendCommand is told."""
        return {"OutputS3BucketName": self.name, "OutputS3KeyPrefix": self.prefix}

    def read(self, sessions: Sessions, target: Target, host_id: str, command_id: str) -> str | None:
        """All that the command's steps printed to standard output, None where nothing has arrived."""
        s3 = sessions.client("s3", target.account, target.region)
        folder = f"{self.prefix}/{command_id}/{host_id}/"
        what = f"read the whole output of command {command_id} in s3://{self.name}/{folder}"
        with attempted(what, "s3:ListBucket", MEASURING):
            pages = s3.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=folder)
            keys = [one["Key"] for page in pages for one in page.get("Contents", ())]
        wanted = sorted(key for key in keys if key.endswith("/stdout"))
        with attempted(what, "s3:GetObject", MEASURING):
            parts = [_text(s3.get_object(Bucket=self.name, Key=key)) for key in wanted]
        return "".join(parts) if parts else None


def _text(found: Mapping[str, Any]) -> str:
    body: bytes = found["Body"].read()
    return body.decode("utf-8", errors="replace")
