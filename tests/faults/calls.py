"""Calls: what a request asks of which cloud, and where the token of a page stands in it and in its answer."""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import cbor2
from google.cloud import monitoring_v3
from werkzeug.wrappers import Request

from cloud_simulator.aws.protocols import call_of

_TIME_SERIES: Final = monitoring_v3.ListTimeSeriesRequest.pb()
GRPC: Final = "ListTimeSeries"
_GOOGLE: Final = (
    (r"/aggregated/disks", "disks.aggregatedList"),
    (r"/aggregated/instances", "instances.aggregatedList"),
    (r"/skus", "skus.list"),
    (r"/v3/folders", "folders.list"),
    (r"/v3/projects/[^/]+", "projects.get"),
    (r"/v3/projects", "projects.list"),
    (r"/machineTypes/[^/]+", "machineTypes.get"),
    (r"/disks/[^/]+", "disks.get"),
    (r"/instances/[^/]+", "instances.get"),
)
TOKENS: Final[Mapping[str, tuple[str, str]]] = {
    "DescribeVolumes": ("NextToken", "nextToken"),
    "DescribeInstances": ("NextToken", "nextToken"),
    "DescribeInstanceTypes": ("NextToken", "nextToken"),
    "DescribeVolumesModifications": ("NextToken", "nextToken"),
    "GetMetricData": ("NextToken", "NextToken"),
    "GetProducts": ("NextToken", "NextToken"),
    "ListAccounts": ("NextToken", "NextToken"),
    "disks.aggregatedList": ("pageToken", "nextPageToken"),
    "instances.aggregatedList": ("pageToken", "nextPageToken"),
    "skus.list": ("pageToken", "nextPageToken"),
    "projects.list": ("pageToken", "nextPageToken"),
    "folders.list": ("pageToken", "nextPageToken"),
    GRPC: ("page_token", "nextPageToken"),
}
"""By operation: the token's name in a request, and in its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request: of which cloud, account (empty where Google's path names it) and region, for which operation.

    `protocol` is json, cbor, query (a form, answered by XML), rest or grpc.
    """

    cloud: str
    account: str
    region: str
    service: str
    operation: str
    protocol: str
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def key(self) -> str:
        """What names the same question each time that it is asked, in every run."""
        content = zlib.crc32(self.target.encode() + b" " + self.body)
        return f"{self.account}/{self.region}/{self.operation}/{content:08x}"

    @property
    def token(self) -> str:
        """The token of the page that is asked for; empty for the first."""
        name = TOKENS.get(self.operation, ("",))[0]
        if not name:
            return ""
        if self.protocol == "rest":
            return dict(parse_qsl(urlsplit(self.target).query)).get(name, "")
        return str(self._read().get(name, "") or "")

    def for_page(self, token: str) -> "Asked":
        """The same question for the page of that token; for the first where it is empty."""
        name = TOKENS[self.operation][0]
        if self.protocol == "rest":
            parts = urlsplit(self.target)
            query = {**dict(parse_qsl(parts.query, keep_blank_values=True)), name: token}
            words = urlencode({key: value for key, value in query.items() if key != name or value})
            return replace(self, target=urlunsplit(parts._replace(query=words)))
        if self.protocol == "grpc":
            request = _TIME_SERIES.FromString(self.body)
            request.page_token = token
            return replace(self, body=request.SerializeToString(deterministic=True))
        asked = {key: value for key, value in {**self._read(), name: token}.items() if key != name or value}
        if self.protocol == "query":
            return replace(self, body=urlencode(asked).encode())
        dump = cbor2.dumps if self.protocol == "cbor" else lambda found: json.dumps(found).encode()
        return replace(self, body=dump(asked))

    def _read(self) -> dict[str, Any]:
        if self.protocol == "query":
            return dict(parse_qsl(self.body.decode(), keep_blank_values=True))
        if self.protocol == "grpc":
            return {"page_token": _TIME_SERIES.FromString(self.body).page_token}
        return cbor2.loads(self.body) if self.protocol == "cbor" else json.loads(self.body or b"{}")


def aws_call(method: str, target: str, headers: Mapping[str, str], body: bytes, accounts: Mapping[str, str]) -> Asked:
    """A signed request of AWS; `accounts` by access key."""
    found = call_of(Request.from_values(target, method=method, headers=list(headers.items()), data=body))
    assert found is not None, f"an unsigned request: {method} {target}"
    return Asked(
        cloud="aws",
        account=accounts.get(found.access_key, found.access_key),
        region=found.region,
        service=found.service,
        operation=found.operation,
        protocol=found.protocol,
        method=method,
        target=target,
        headers=headers,
        body=body,
    )


def google_call(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Asked:
    """A request of Google's REST."""
    path = urlsplit(target).path
    operation = next((name for pattern, name in _GOOGLE if re.search(f"{pattern}$", path)), path)
    return Asked(
        cloud="google",
        account="",
        region="",
        service="rest",
        operation=operation,
        protocol="rest",
        method=method,
        target=target,
        headers=headers,
        body=body,
    )
