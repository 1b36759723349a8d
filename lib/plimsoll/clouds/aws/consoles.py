"""Consoles of AWS in each of its partitions, and links to them."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

CONSOLES: Final[Mapping[str, str]] = {
    "aws": "console.aws.amazon.com",
    "aws-cn": "console.amazonaws.cn",
    "aws-us-gov": "console.amazonaws-us-gov.com",
}
"""Where the console of each partition is, behind a region's name."""

_PARTITIONS: Final[Mapping[str, str]] = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
"""The partitions that a region's name tells, by what it begins with; every other region is one of `aws`."""


def partition_of(region: str) -> str:
    """The part of AWS that a region is in, as its name tells."""
    return next((name for start, name in _PARTITIONS.items() if region.startswith(start)), "aws")


def object_link(region: str, bucket: str, key: str, *, partition: str = "aws") -> str | None:
    """The address of an object's page in the S3 console, for those who are signed in; None where no console is known.

    It is the address that the console itself shows for an object (November 2026); AWS documents none.
    """
    host = CONSOLES.get(partition)
    if host is None:
        return None
    return f"https://{region}.{host}/s3/object/{quote(bucket, safe='')}?{urlencode({'region': region, 'prefix': key})}"
