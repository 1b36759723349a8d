"""A run's store in a bucket. Objects are encrypted as the bucket does by default."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from plimsoll.clouds.aws.errors import KEEPING, attempted, code_of
from plimsoll.writing import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Store:
    """Each key is an object of the bucket. `client` is boto3's of S3; every method raises CloudError.

    A key that is not there is told from one that may not be read only where the caller may list the bucket.
    """

    bucket: str
    client: Any

    def put(self, key: str, content: bytes) -> None:
        """Keeps content under a key, whole or not at all."""
        with self._attempted("write", key, "s3:PutObject"):
            self.client.put_object(Bucket=self.bucket, Key=key, Body=content)

    def get(self, key: str) -> bytes | None:
        """What is kept under a key, None where nothing is."""
        with self._attempted("read", key, "s3:GetObject"):
            body = self._body(key)
            return None if body is None else bytes(body.read())

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in the order of their bytes, as S3 lists them."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        with self._attempted("list", prefix, "s3:ListBucket"):
            for page in pages:
                yield from (one["Key"] for one in page.get("Contents", ()))

    def delete(self, key: str) -> None:
        """Keeps nothing under a key any more."""
        with self._attempted("delete", key, "s3:DeleteObject"):
            self.client.delete_object(Bucket=self.bucket, Key=key)

    def put_file(self, key: str, path: Path) -> None:
        """As `put`, from a file, in parts where it is long."""
        with path.open("rb") as file, self._attempted("write", key, "s3:PutObject"):
            self.client.upload_fileobj(file, self.bucket, key)

    def get_file(self, key: str, path: Path) -> bool:
        """Brings what is kept into a file, whole or not at all; False where nothing is."""
        with self._attempted("read", key, "s3:GetObject"):
            body = self._body(key)
            if body is None:
                return False
            with whole(path) as beside, beside.open("wb") as file:
                shutil.copyfileobj(body, file)
        return True

    def _body(self, key: str) -> Any:
        """The stream of an object, None where there is none."""
        try:
            return self.client.get_object(Bucket=self.bucket, Key=key)["Body"]
        except ClientError as error:
            if code_of(error) == "NoSuchKey":
                return None
            raise

    def _attempted(self, verb: str, key: str, permission: str) -> AbstractContextManager[None]:
        return attempted(f"{verb} s3://{self.bucket}/{key}", permission, KEEPING)
