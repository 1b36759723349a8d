"""The scope of an audit, and signing in to every account of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.clouds.aws import names as aws_names
from plimsoll.clouds.aws.names import AUDIT_ROLE, role_arn
from plimsoll.clouds.aws.organization import accounts_in
from plimsoll.clouds.aws.sessions import HOME_REGION, Credential, Sessions, check_regions
from plimsoll.clouds.google import names as google_names
from plimsoll.domain.errors import BadInput
from plimsoll.ports import FailedTarget
from plimsoll.settings import Settings

AWS: Final = aws_names.PROVIDER
GOOGLE: Final = google_names.PROVIDER
"""The clouds that can be asked."""

_EARLIER_NAMES: Final = {"gcp": GOOGLE}
"""What runs of earlier versions call a cloud in run.json."""

_GOOGLE_REGION: Final = re.compile(r"[a-z]+-[a-z]+\d+")
"""Google's regions are named like us-central1, AWS's like us-east-1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which clouds, accounts and regions an audit covers, and a price file to use instead of their price lists.

    Accounts are those of the profiles (the default credentials where none is named) and of the roles. With one of
    `organization`, `units` or `accounts` they are those instead, each by its role `role_name`, but the caller's own by
    the caller's credentials; and those of the roles. Google's projects are those named, those under the folders, and
    those under the organizations; the environment's own where none of these is named.
    """

    clouds: tuple[str, ...] = (AWS,)
    profiles: tuple[str, ...] = ()
    role_arns: tuple[str, ...] = ()
    external_id: str | None = None
    organization: bool = False
    units: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    role_name: str = AUDIT_ROLE
    regions: tuple[str, ...] = ()
    prices: str | None = None
    projects: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    google_organizations: tuple[str, ...] = ()

    def regions_of(self, cloud: str) -> tuple[str, ...]:
        """The regions to read of a cloud, empty for all of them: where several clouds are asked, each has its own."""
        if len(self.clouds) == 1:
            return self.regions
        return tuple(
            region for region in self.regions if (_GOOGLE_REGION.fullmatch(region) is not None) == (cloud == GOOGLE)
        )

    @property
    def names_members(self) -> bool:
        """Whether it is about accounts of an Organization."""
        return self.organization or bool(self.units or self.accounts)

    def as_dict(self) -> dict[str, object]:
        """The scope for run.json."""
        return {
            "profiles": list(self.profiles),
            "role_arns": list(self.role_arns),
            "external_id": self.external_id,
            "organization": self.organization,
            "units": list(self.units),
            "accounts": list(self.accounts),
            "role_name": self.role_name,
            "regions": list(self.regions),
            "prices": self.prices,
            "clouds": list(self.clouds),
            "projects": list(self.projects),
            "folders": list(self.folders),
            "google_organizations": list(self.google_organizations),
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, object]) -> "Scope":
        """The scope in a run.json."""

        def words(key: str) -> tuple[str, ...]:
            value = found.get(key)
            return tuple(str(word) for word in value) if isinstance(value, list) else ()

        external_id, prices = found.get("external_id"), found.get("prices")
        return cls(
            profiles=words("profiles"),
            role_arns=words("role_arns"),
            external_id=None if external_id is None else str(external_id),
            organization=bool(found.get("organization")),
            units=words("units"),
            accounts=words("accounts"),
            role_name=str(found.get("role_name") or AUDIT_ROLE),
            regions=words("regions"),
            prices=None if prices is None else str(prices),
            clouds=tuple(_EARLIER_NAMES.get(one, one) for one in words("clouds")) or (AWS,),
            projects=words("projects"),
            folders=words("folders"),
            google_organizations=words("google_organizations") or words("gcp_organizations"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """AWS accounts that are open, and those that are not, with why."""

    sessions: Sessions
    failed: tuple[FailedTarget, ...]


def sign_in(scope: Scope, settings: Settings) -> SignedIn:
    """Signs in to every account of a scope; BadInput for a region that does not exist, or a scope of two kinds."""
    check_regions(scope.regions_of(AWS))
    if scope.names_members:
        credentials, failed = _of_members(scope, settings)
    else:
        credentials, failed = [Credential(profile=profile) for profile in scope.profiles] or [Credential()], []
    source = scope.profiles[0] if scope.profiles else None
    roles = [Credential(profile=source, role_arn=arn, external_id=scope.external_id) for arn in scope.role_arns]
    return open_accounts([*credentials, *roles], settings, failed)


def open_accounts(
    credentials: Sequence[Credential], settings: Settings, failed: Sequence[FailedTarget] = ()
) -> SignedIn:
    """The accounts that these credentials lead to; what has `failed` before is kept with them."""
    sessions = Sessions(attempts=settings.max_attempts, connections=settings.parallel_calls + 2)
    return SignedIn(sessions=sessions, failed=(*failed, *sessions.sign_in(credentials)))


def _of_members(scope: Scope, settings: Settings) -> tuple[list[Credential], list[FailedTarget]]:
    """The way into each account of the Organization that the scope names, and what of it cannot be had."""
    if len(scope.profiles) > 1:
        raise BadInput(
            "with --organization, --unit or --account one --profile assumes the roles of all accounts: name one."
        )
    source = scope.profiles[0] if scope.profiles else None
    caller = Sessions(attempts=settings.max_attempts, connections=1)
    failed = caller.sign_in([Credential(profile=source)])
    if failed:
        return [], failed
    ((own, session),) = caller.by_account.items()
    region = session.region_name or HOME_REGION
    client = caller.client("organizations", own, region)
    found = accounts_in(client, organization=scope.organization, units=scope.units, accounts=scope.accounts)
    partition = session.get_partition_for_region(region)
    credentials = [
        Credential(profile=source)
        if account == own
        else Credential(
            profile=source,
            role_arn=role_arn(account, scope.role_name, partition),
            external_id=scope.external_id,
        )
        for account in found
        if isinstance(account, str)
    ]
    return credentials, [one for one in found if isinstance(one, FailedTarget)]
