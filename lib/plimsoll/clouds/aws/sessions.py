"""Sessions: whose credentials are used for which account, and the clients made from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, Final

import boto3
import botocore.session
from botocore.config import Config
from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
from botocore.exceptions import NoCredentialsError
from botocore.loaders import Loader

from plimsoll.clouds.aws.errors import FAILURES, refused
from plimsoll.clouds.common import messages
from plimsoll.ports import FailedTarget

HOME_REGION: Final = "us-east-1"
"""Where calls go that belong to no region, unless the session says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A way into an account: a profile (None: the default chain), and perhaps a role to assume from it."""

    profile: str | None = None
    role_arn: str | None = None
    external_id: str | None = None

    def __str__(self) -> str:
        return self.role_arn or (f"profile {self.profile}" if self.profile else "the default credentials")


@dataclass(slots=True, kw_only=True)
class Sessions:
    """One boto3 session an account, clients from them, and what could not be entered, with why.

    `attempts` bounds the retries of one call, `connections` is how many are kept.
    """

    attempts: int
    connections: int
    failed: list[FailedTarget] = field(default_factory=list)
    by_account: dict[str, boto3.Session] = field(default_factory=dict)
    _clients: dict[tuple[str, str, str], Any] = field(default_factory=dict, repr=False)

    def sign_in(self, credentials: Sequence[Credential]) -> None:
        """Finds the account behind each credential; those that lead to none are `failed`."""
        for credential in credentials:
            try:
                session = _session(credential)
                client = session.client("sts", region_name=session.region_name or HOME_REGION, config=self._config())
                self.by_account.setdefault(client.get_caller_identity()["Account"], session)
            except FAILURES as error:
                permission = "sts:AssumeRole" if credential.role_arn else "sts:GetCallerIdentity"
                why = refused(error, f"read {credential}", permission)
                self.failed.append(FailedTarget(name=str(credential), error=why))

    def client(self, service: str, account: str, region: str) -> Any:
        """The client of a service in an account and region; one is kept for each."""
        key = (service, account, region)
        if key not in self._clients:
            session = self.by_account[account]
            self._clients[key] = session.client(service, region_name=region, config=self._config())  # type: ignore[call-overload]  # the service's name is not a literal
        return self._clients[key]

    def _config(self) -> Config:
        return Config(
            retries={"mode": "adaptive", "total_max_attempts": self.attempts},
            max_pool_connections=self.connections,
            connect_timeout=10,
            read_timeout=60,
            user_agent_extra=f"plimsoll/{version('plimsoll')}",
        )


@lru_cache
def known_regions() -> tuple[str, ...]:
    """Every AWS region that botocore knows, by name."""
    session = boto3.Session()
    return tuple(
        sorted(
            region
            for partition in session.get_available_partitions()
            for region in session.get_available_regions("ec2", partition_name=partition)
        )
    )


def check_regions(regions: Sequence[str]) -> None:
    """BadInput for a name that is no AWS region, with the nearest that is."""
    messages.check_regions(regions, known_regions(), cloud="AWS", listed_by="aws ec2 describe-regions")


def _session(credential: Credential) -> boto3.Session:
    base = _opened(botocore.session.Session(), profile_name=credential.profile)
    if credential.role_arn is None:
        return base
    extra = {"RoleSessionName": "plimsoll"}
    if credential.external_id is not None:
        extra["ExternalId"] = credential.external_id
    source = base._session  # boto3 has no public way to a session that renews an assumed role
    if source.get_credentials() is None:
        raise NoCredentialsError
    fetcher = AssumeRoleCredentialFetcher(
        client_creator=source.create_client,
        source_credentials=source.get_credentials(),
        role_arn=credential.role_arn,
        extra_args=extra,
    )
    assumed = botocore.session.Session()
    renewed = DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")
    assumed._credentials = renewed  # type: ignore[attr-defined]  # as above
    return _opened(assumed, region_name=base.region_name)


def _opened(session: botocore.session.Session, **chosen: str | None) -> boto3.Session:
    """The session, with the models of services that every other one has read: reading them takes longer than a call."""
    models = _models()
    session.register_component("data_loader", models)
    opened = boto3.Session(botocore_session=session, **chosen)
    models.search_paths[:] = dict.fromkeys(models.search_paths)  # boto3 adds its own each time
    return opened


@cache
def _models() -> Loader:
    loader: Loader = botocore.session.Session().get_component("data_loader")
    return loader
