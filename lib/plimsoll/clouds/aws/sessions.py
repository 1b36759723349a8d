"""Sessions: whose credentials are used for which account, and the clients made from them."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from typing import Any, Final

import boto3
import botocore.session
from botocore.config import Config
from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
from botocore.exceptions import CredentialRetrievalError, NoCredentialsError
from botocore.loaders import Loader
from pydantic import Field, model_validator

from plimsoll.clouds.aws.endpoints import Circuit, guard, read_strictly
from plimsoll.clouds.aws.errors import translate_errors
from plimsoll.clouds.aws.lists import ASKED, Asker, AwsAnswer
from plimsoll.clouds.aws.names import ACCOUNT_ID
from plimsoll.clouds.common import messages
from plimsoll.clouds.common.answers import Waits, bad_answer
from plimsoll.distribution import own_version
from plimsoll.model.errors import BadCredentials, CloudError
from plimsoll.ports import FailedTarget

HOME_REGION: Final = "us-east-1"
"""Where calls go that belong to no region, unless the session says otherwise."""

UNCHECKED: Final = "cloudwatch"
"""The service whose requests botocore does not check against its model: hundreds of queries a call, all made here."""

SIGN_INS_AT_ONCE: Final = 8
"""Accounts that are signed in to at once."""

_IDENTITY: Final = "sts:GetCallerIdentity"
_MAKING: Final = threading.Lock()
"""Held while a session or a client is made: they share the models of services, and boto3's sessions are for one
thread."""


class Caller(AwsAnswer):
    """Whose credentials they are: the account, and the ARN of who calls, which names the account too."""

    account: str = Field(pattern=f"^{ACCOUNT_ID}$")
    arn: str

    @model_validator(mode="after")
    def _one_word(self) -> "Caller":
        if account_in(self.arn) != self.account:
            raise ValueError(f"Account is {self.account}, and Arn is {self.arn}")
        return self


def account_in(arn: str) -> str:
    """The account that an ARN names; empty if it names none."""
    parts = arn.split(":")
    return parts[4] if len(parts) > 5 and parts[0] == "arn" else ""  # arn:partition:service:region:account:resource


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

    `attempts` bounds the retries of one call, `waits` how long an answer may take; `connections` is how many are kept.
    """

    attempts: int
    connections: int
    waits: Waits = field(default_factory=Waits)
    failed: list[FailedTarget] = field(default_factory=list)
    by_account: dict[str, boto3.Session] = field(default_factory=dict)
    _clients: dict[tuple[str, str, str], Any] = field(default_factory=dict, repr=False)
    _circuits: dict[tuple[str, str], Circuit] = field(default_factory=dict, repr=False)
    _circuits_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def sign_in(self, credentials: Sequence[Credential]) -> None:
        """Finds the account behind each credential, several at once; those that lead to none are `failed`.

        Of two that lead to one account the first is used.
        """
        with ThreadPoolExecutor(max_workers=SIGN_INS_AT_ONCE) as pool:
            entered = list(pool.map(self._enter, credentials))
        for credential, entry in zip(credentials, entered, strict=True):
            if isinstance(entry, CloudError):
                self.failed.append(FailedTarget(name=str(credential), error=entry))
            else:
                account, session = entry
                self.by_account.setdefault(account, session)

    def client(self, service: str, account: str, region: str) -> Any:
        """The client of a service in an account and region; one is kept for each.

        Raises BadCredentials for an account that no credentials lead to.
        """
        if account not in self.by_account:
            reasons = "; ".join(f"{failure.name}: {failure.error}" for failure in self.failed)
            raise BadCredentials(f"no credentials of the scope lead to {account}: sign in again. {reasons}".rstrip())
        key = (service, account, region)
        with _MAKING:
            if key not in self._clients:
                self._clients[key] = self._make_client(self.by_account[account], service, region)
            return self._clients[key]

    def _enter(self, credential: Credential) -> tuple[str, boto3.Session] | CloudError:
        """The account that a credential leads to and its session, or why there is none."""
        what = f"read {credential}"
        try:
            with translate_errors(what, "sts:AssumeRole" if credential.role_arn else _IDENTITY):
                with _MAKING:
                    session = _session(credential, self._config(), self._guard_client)
                    client = self._make_client(session, "sts", session.region_name or HOME_REGION)
                caller = _caller_behind(credential, client.get_caller_identity)
        except CloudError as error:
            return error
        return caller.account, session

    def _make_client(self, session: boto3.Session, service: str, region: str) -> Any:
        config = self._config(validated=service != UNCHECKED)
        client = session.client(service, region_name=region, config=config)  # type: ignore[call-overload]  # the service's name is not a literal
        return self._guard_client(client)

    def _guard_client(self, client: Any) -> Any:
        place = (str(client.meta.service_model.service_name), str(client.meta.region_name))
        with self._circuits_lock:
            circuit = self._circuits.setdefault(place, Circuit(service=place[0], region=place[1]))
        guard(client, circuit, self.waits.answer_s)
        return client

    def _config(self, *, validated: bool = True) -> Config:
        return Config(
            parameter_validation=validated,
            retries={"mode": "adaptive", "total_max_attempts": self.attempts},
            max_pool_connections=self.connections,
            connect_timeout=self.waits.connect_s,
            read_timeout=self.waits.silence_s,
            user_agent_extra=f"plimsoll/{own_version()}",
        )


def _caller_behind(credential: Credential, ask: Callable[..., Any]) -> Caller:
    """Whose a credential is. BadAnswer if a role's answer is of another account than the role's."""
    wanted = account_in(credential.role_arn or "")

    def is_other(caller: Caller) -> bool:
        return bool(wanted) and caller.account != wanted

    asker = Asker(place=str(credential))
    caller = asker.one(Caller, ask, _IDENTITY, doubted=is_other)
    if is_other(caller):
        what = f"Account is {caller.account}, but the role belongs to {wanted}"
        raise bad_answer(what, caller.model_dump(), call=_IDENTITY, place=asker.place)
    return caller


@lru_cache
def known_regions() -> tuple[str, ...]:
    """Every AWS region that botocore knows, by name; the models that it reads for that are those of all sessions."""
    session = _open_session(botocore.session.Session())
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


def _session(credential: Credential, config: Config, guarded: Callable[[Any], Any]) -> boto3.Session:
    base = _open_session(botocore.session.Session(), profile_name=credential.profile)
    role_arn = credential.role_arn
    if role_arn is None:
        return base
    extra = {"RoleSessionName": "plimsoll"}
    if credential.external_id is not None:
        extra["ExternalId"] = credential.external_id
    source = base._session  # boto3 has no public way to a session that renews an assumed role
    if source.get_credentials() is None:
        raise NoCredentialsError

    def create_client(*args: Any, **named: Any) -> Any:
        return guarded(source.create_client(*args, **{**named, "config": config}))

    def fetch_credentials() -> Any:
        fetcher = AssumeRoleCredentialFetcher(
            client_creator=create_client,
            source_credentials=source.get_credentials(),
            role_arn=role_arn,
            extra_args=extra,
        )
        return fetcher.fetch_credentials()

    assumed = botocore.session.Session()
    renewed = DeferredRefreshableCredentials(partial(_role_credentials, fetch_credentials, credential), "assume-role")
    assumed._credentials = renewed  # type: ignore[attr-defined]  # as above
    return _open_session(assumed, region_name=base.region_name)


def _role_credentials(fetch_credentials: Callable[[], Any], credential: Credential) -> Any:
    """A role's credentials. CredentialRetrievalError where no answer has them: botocore reads it as it comes.

    What it raises then may quote the answer, and is neither shown nor kept.
    """
    for attempt in range(1, ASKED + 1):
        try:
            return _checked_credentials(fetch_credentials())
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            if attempt == ASKED:
                why = str(error) if isinstance(error, ExpiredOnArrivalError) else type(error).__name__
                raise CredentialRetrievalError(
                    provider="sts:AssumeRole", error_msg=f"the answer has no credentials of {credential} ({why})"
                ) from None
    return None


class ExpiredOnArrivalError(ValueError):
    """Credentials that can be used no more. It says when they ended, and nothing else of them."""


def _checked_credentials(fields: Any) -> Any:
    """A role's credentials. Botocore would raise much later, and something else, if they have expired already."""
    ends = datetime.fromisoformat(fields["expiry_time"])
    if ends <= datetime.now(UTC):
        raise ExpiredOnArrivalError(f"they expired at {ends:%Y-%m-%d %H:%M:%S} UTC; compare this machine's clock")
    return fields


def _open_session(session: botocore.session.Session, **chosen: str | None) -> boto3.Session:
    """The session, with the models of services that every other one has read: reading them takes longer than a call."""
    models = _models()
    read_strictly(session)
    session.register_component("data_loader", models)
    opened = boto3.Session(botocore_session=session, **chosen)
    models.search_paths[:] = dict.fromkeys(models.search_paths)  # boto3 adds its own each time
    return opened


@cache
def _models() -> Loader:
    loader: Loader = botocore.session.Session().get_component("data_loader")
    return loader
