"""Objects: the keys in a bucket, page by page."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import Field, model_validator

from plimsoll.clouds.aws.lists import Asker, AwsAnswer, Page

_LIST: Final = "s3:ListBucket"


class Object(AwsAnswer):
    """An object's entry."""

    key: str = Field(min_length=1)
    size: int = Field(default=0, ge=0)


class ObjectsPage(Page):
    """A page of ListObjectsV2, which leaves out `contents` where there are none, and counts them."""

    contents: tuple[Object, ...] = ()
    key_count: int | None = None
    is_truncated: bool = False
    next_token: str | None = Field(default=None, alias="NextContinuationToken")

    @model_validator(mode="after")
    def _check_count(self) -> "ObjectsPage":
        if self.key_count is not None and self.key_count != len(self.contents):
            raise ValueError(f"KeyCount is {self.key_count}, and there are {len(self.contents)} Contents")
        if self.is_truncated and not self.next_token:
            raise ValueError("NextContinuationToken is missing")
        return self


def every_key(s3: Any, bucket: str, prefix: str) -> Iterator[str]:
    """The keys that begin with a prefix; order and errors are as of `every_object`."""
    return (entry.key for entry in every_object(s3, bucket, prefix))


def every_object(s3: Any, bucket: str, prefix: str) -> Iterator[Object]:
    """The objects whose keys begin with a prefix, in the order of the keys' bytes, as S3 lists them.

    Raises BadAnswer, Endless and what botocore raises.
    """
    asker = Asker(place=f"s3://{bucket}/{prefix}")
    pages = asker.pages(
        ObjectsPage, s3.list_objects_v2, _LIST, asks_with="ContinuationToken", Bucket=bucket, Prefix=prefix
    )
    for page in pages:
        yield from page.contents
