"""Clients: the credentials in use, Google's clients made from them, and the attempts of a call."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import google.auth
import grpc
from google.api_core import exceptions as api
from google.api_core import retry as retries
from google.api_core.client_options import ClientOptions
from google.api_core.gapic_v1.client_info import ClientInfo
from google.auth import aws, external_account
from google.auth.credentials import AnonymousCredentials, Credentials, with_scopes_if_required
from google.auth.exceptions import GoogleAuthError
from google.auth.exceptions import TransportError as TokenUnreachable
from google.auth.transport.requests import AuthorizedSession, Request
from google.cloud import compute_v1, monitoring_v3
from google.cloud.monitoring_v3.services.metric_service.transports import MetricServiceGrpcTransport
from requests import ConnectionError as NoConnection
from requests import Session, Timeout
from requests.exceptions import ChunkedEncodingError

from plimsoll.clouds.common.answers import LEAST_S, Deadline, Waits
from plimsoll.distribution import own_version
from plimsoll.model.errors import BadCredentials, BadInput
from plimsoll_google.bounded_http import bound
from plimsoll_google.errors import (
    GOOGLE_AUDITING,
    UNREADABLE,
    google_errors,
    no_credentials,
    no_token_now,
    too_many,
)
from plimsoll_google.federation import FederationConfig
from plimsoll_google.names import COMPUTE, LOGGING

if TYPE_CHECKING:
    from google.cloud.billing_v1 import CloudCatalogClient
    from google.cloud.resourcemanager_v3 import FoldersClient, ProjectsClient

SCOPES: Final = ("https://www.googleapis.com/auth/cloud-platform",)
"""The scope of tokens; what the caller may do is its roles'."""

GOOGLE_LIST_DEADLINE_S: Final = 300.0
"""Seconds that a list may take unless the settings say otherwise."""

_LOGGING: Final = f"https://{LOGGING}"
_COMPUTE: Final = f"https://{COMPUTE}"
_OK: Final = 200
_UPDATE_TRIES: Final = 3

C = TypeVar("C")


@dataclass(kw_only=True)
class Clients:
    """Google's clients, each made when it is first asked for and shared by all threads.

    `url` and `monitoring` (host:port) are where a simulated cloud answers, without credentials or encryption. Without
    them credentials are those given, or the environment's (Application Default Credentials); calls count for
    `quota_project`, or for the project that the credentials say. `attempts` bounds the attempts of one call,
    `list_deadline_s` is how many seconds one list may take, all its pages and attempts included, `waits` how long one
    answer may.
    """

    url: str | None = None
    monitoring: str | None = None
    credentials: Credentials | None = None
    quota_project: str | None = None
    attempts: int = 8
    list_deadline_s: float = GOOGLE_LIST_DEADLINE_S
    waits: Waits = field(default_factory=Waits)
    _made: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def retry(self) -> retries.Retry:
        """The attempts of a call."""
        return GoogleRetry(self.attempts)

    @property
    def tries(self) -> dict[str, Any]:
        """The options of every call beside its request: its attempts, and the time for each."""
        return {"retry": self.retry, "timeout": self.waits.answer_s}

    def tries_within(self, deadline: Deadline) -> dict[str, Any]:
        """The same as `tries`, for calls that change nothing. All attempts end with the deadline.

        An answer that cannot be read is asked for once more.
        """
        left_s = max(deadline.left_s, LEAST_S)
        timeout_s = min(self.waits.answer_s, left_s)
        return {"retry": GoogleRetry(self.attempts, within_s=left_s, reads=True), "timeout": timeout_s}

    def list_deadline(self) -> Deadline:
        """The deadline of a list that begins now."""
        return Deadline(seconds=self.list_deadline_s)

    @property
    def default_project(self) -> str | None:
        """The project that the environment names. Raises BadCredentials if it has no credentials."""
        return self._signed_in[1]

    @property
    def disks(self) -> compute_v1.DisksClient:
        """Disks of zones, and the aggregated list of zones and regions."""
        return self.rest(compute_v1.DisksClient)

    @property
    def region_disks(self) -> compute_v1.RegionDisksClient:
        """Disks of regions."""
        return self.rest(compute_v1.RegionDisksClient)

    @property
    def instances(self) -> compute_v1.InstancesClient:
        """Instances."""
        return self.rest(compute_v1.InstancesClient)

    @property
    def regions(self) -> compute_v1.RegionsClient:
        """Regions."""
        return self.rest(compute_v1.RegionsClient)

    @property
    def projects(self) -> "ProjectsClient":
        """Projects of folders and organizations."""
        from google.cloud.resourcemanager_v3 import ProjectsClient  # noqa: PLC0415  # most audits name their projects

        return self.rest(ProjectsClient)

    @property
    def folders(self) -> "FoldersClient":
        """Folders of folders and organizations."""
        from google.cloud.resourcemanager_v3 import FoldersClient  # noqa: PLC0415  # as above

        return self.rest(FoldersClient)

    @property
    def catalog(self) -> "CloudCatalogClient":
        """The price catalog."""
        from google.cloud.billing_v1 import CloudCatalogClient  # noqa: PLC0415  # most audits need no newer prices

        return self.rest(CloudCatalogClient)

    @property
    def metrics(self) -> monitoring_v3.MetricServiceClient:
        """Cloud Monitoring, by gRPC: it has no other way. Raises CloudError if federation gives no token."""
        self._have_token()
        return self._keep_client(monitoring_v3.MetricServiceClient, self._metrics)

    def rest(self, kind: Callable[..., C]) -> C:
        """The client of a class that speaks REST: of Compute Engine, or any other that can."""

        def make() -> C:
            client: Any = kind(transport="rest", **self._options(self.url))
            bound(client.transport._session, self.waits)  # there is no public way to the session of a transport
            made: C = client
            return made

        return self._keep_client(kind, make)

    def log_entries(self, request: Mapping[str, Any], deadline: Deadline) -> Any:
        """A page of log entries: there is no other use of Cloud Logging, and so no client of its own."""
        tries, url = self.tries_within(deadline), f"{self.url or _LOGGING}/v2/entries:list"
        return tries["retry"](lambda: self._ask_json("POST", url, json=request, timeout=tries["timeout"]))()

    def update_disk(self, path: str, figures: Mapping[str, int], request_id: str) -> Any:
        """The operation by which a disk at a path, from `projects/` on, gets these figures; all change in one call.

        Google knows a call that is repeated by its request id, and answers the same operation. The generated client
        sends one of `paths` alone, which the API has repeated (Compute Engine v1, `disks.update`, read 2026-11-27).
        """
        url = f"{self.url or _COMPUTE}/compute/v1/{path}"
        query = [*(("paths", name) for name in figures), ("requestId", request_id)]
        body = {"name": path.rpartition("/")[2], **{name: str(figure) for name, figure in figures.items()}}
        retry = GoogleRetry(min(self.attempts, _UPDATE_TRIES))
        return retry(lambda: self._ask_json("PATCH", url, params=query, json=body, timeout=self.waits.answer_s))()

    def _ask_json(self, method: str, url: str, **asked: Any) -> Any:
        """An answer that no generated client asks for. Raises as those do."""
        session = bound(AuthorizedSession(self._signed_in[0]), self.waits)  # type: ignore[no-untyped-call]  # google-auth has no types
        response = session.request(method, url, **asked)  # type: ignore[no-untyped-call]  # as above
        if response.status_code != _OK:
            raise api.from_http_response(response)  # type: ignore[no-untyped-call]  # google.api_core has no types
        return response.json()

    def close(self) -> None:
        """Closes every connection; clients asked for later are new ones."""
        with self._lock:
            for client in self._made.values():
                client.transport.close()
            self._made.clear()

    def _have_token(self) -> None:
        """Gets a federated role's token before gRPC does, which would report a refusal as a lost connection."""
        if self.monitoring is not None:
            return
        credentials = self._signed_in[0]
        if isinstance(credentials, external_account.Credentials) and not credentials.valid:
            with google_errors("sign in to Google Cloud", "Google Cloud", "a token", GOOGLE_AUDITING):
                self.retry(credentials.refresh)(Request(bound(Session(), self.waits)))

    def _keep_client(self, kind: Callable[..., C], make: Callable[[], C]) -> C:
        with self._lock:
            if kind not in self._made:
                self._made[kind] = make()
            client: C = self._made[kind]
            return client

    def _metrics(self) -> monitoring_v3.MetricServiceClient:
        if self.monitoring is None:
            return monitoring_v3.MetricServiceClient(**self._options(None))
        whole: list[tuple[str, int]] = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        channel = grpc.insecure_channel(self.monitoring, options=whole)
        return monitoring_v3.MetricServiceClient(transport=MetricServiceGrpcTransport(channel=channel))

    def _options(self, url: str | None) -> dict[str, Any]:
        agent = ClientInfo(user_agent=f"plimsoll/{own_version()}")  # type: ignore[no-untyped-call]  # as it ships
        options = ClientOptions(api_endpoint=url, quota_project_id=None if url else self.quota_project)
        return {"credentials": self._signed_in[0], "client_options": options, "client_info": agent}

    @property
    def _signed_in(self) -> tuple[Credentials, str | None]:
        with self._lock:
            signed_in = self._sign_in_result
        if isinstance(signed_in, BadCredentials):
            raise signed_in
        return signed_in

    @cached_property
    def _sign_in_result(self) -> tuple[Credentials, str | None] | BadCredentials:
        """The credentials and the environment's project, or why there are none: looking for them takes seconds."""
        named = os.environ.get("GOOGLE_CLOUD_PROJECT")
        if self.credentials is not None:
            return with_scopes_if_required(self.credentials, SCOPES), named  # type: ignore[no-untyped-call]  # as it ships
        if self.url is not None:
            return AnonymousCredentials(), named  # type: ignore[no-untyped-call]  # as it ships
        try:
            credentials, project = google.auth.default(scopes=SCOPES, quota_project_id=self.quota_project)
        except GoogleAuthError as error:
            return BadCredentials(no_credentials(error))
        return credentials, project


_PASSING: Final = (
    api.ServiceUnavailable,
    api.InternalServerError,
    api.BadGateway,
    api.GatewayTimeout,
    NoConnection,
    Timeout,
    ChunkedEncodingError,
    TokenUnreachable,
)
_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0

P = ParamSpec("P")
R = TypeVar("R")


class GoogleRetry(retries.Retry):
    """A retry that gives a call up after `attempts`, with the error of the last one.

    Waits are random, below a bound that doubles, and all end `within_s` seconds if that is given. `reads`: an answer
    that cannot be read is asked for once more.
    """

    def __init__(self, attempts: int, *, within_s: float | None = None, reads: bool = False) -> None:
        super().__init__(predicate=is_passing, initial=_FIRST_WAIT_S, maximum=_LONGEST_WAIT_S, timeout=within_s)
        self._attempts = attempts
        self._within_s = within_s
        self._reads = reads

    def __call__(self, func: Callable[P, R], on_error: Callable[[Exception], Any] | None = None) -> Callable[P, R]:
        """The call with its retries; each call counts its own attempts."""

        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            left, unread = iter(range(self._attempts - 1)), iter(range(self._reads))

            def may_repeat(error: Exception) -> bool:
                if isinstance(error, UNREADABLE):
                    return next(unread, None) is not None
                return is_passing(error) and next(left, None) is not None

            once_more = retries.Retry(
                predicate=may_repeat, initial=_FIRST_WAIT_S, maximum=_LONGEST_WAIT_S, timeout=self._within_s
            )
            return once_more(func, on_error)(*args, **kwargs)

        return call


def is_passing(error: Exception) -> bool:
    """True if the same call may go well a little later."""
    return isinstance(error, _PASSING) or too_many(error) or no_token_now(error)


READ_ONLY_SCOPES: Final = (
    "https://www.googleapis.com/auth/cloud-platform.read-only",
    "https://www.googleapis.com/auth/compute.readonly",
    "https://www.googleapis.com/auth/monitoring.read",
    "https://www.googleapis.com/auth/cloud-billing.readonly",
    "https://www.googleapis.com/auth/logging.read",
)
"""The scopes of a token for reading, whatever roles its holder has. One scope for each of the APIs: Resource Manager,
Compute Engine, Cloud Monitoring, Cloud Billing and Cloud Logging (AUTH_SCOPES of their clients, and for Compute Engine
the scopes of `disks.aggregatedList`, read 2026-11-22)."""


def keyless_credentials(config: FederationConfig) -> aws.Credentials:
    """Credentials that prove the AWS role of this process to Google by a signed request; nothing is asked yet.

    Access key, session token and region come from AWS's own environment variables, which Lambda sets. Raises BadInput
    if google-auth cannot use the configuration.
    """
    try:
        credentials: aws.Credentials = aws.Credentials.from_info(  # type: ignore[no-untyped-call]  # google-auth has no types
            config.plain, scopes=list(READ_ONLY_SCOPES)
        )
    except (GoogleAuthError, ValueError) as error:
        raise BadInput(
            f"google_credentials cannot be used: {error}. Write them anew with `gcloud iam workload-identity-pools "
            "create-cred-config`, and deploy the service again."
        ) from error
    return credentials
