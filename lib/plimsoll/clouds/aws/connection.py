"""A connection to AWS: signing in to every account of a scope, and the ports over them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from plimsoll.clouds.aws.bench import AwsBench
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.aws.names import role_arn
from plimsoll.clouds.aws.organization import accounts_in
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.aws.published import query_cost
from plimsoll.clouds.aws.sessions import HOME_REGION, Credential, Sessions, check_regions
from plimsoll.clouds.cloud import Connection
from plimsoll.clouds.common.dated_data import load_prices, shipped_prices
from plimsoll.clouds.common.pacing import Pacer
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.ports import FailedTarget
from plimsoll.settings import Settings


def connect(scope: Scope, settings: Settings, *, today: date, paced: bool = True) -> Connection:
    """The ports over every account of a scope; BadInput for a region that does not exist."""
    return connection_of(sign_in(scope, settings), scope, settings, today=today, paced=paced)


def connection_of(
    signed_in: "SignedIn", scope: Scope, settings: Settings, *, today: date, paced: bool = True
) -> Connection:
    """The ports over accounts that are open already."""
    sessions = signed_in.sessions
    return Connection(
        inventory=AwsInventory(sessions=sessions, regions=scope.regions_of(AWS) or None, failed=signed_in.failed),
        metrics=AwsMetrics(
            sessions=sessions,
            calls=Pacer(settings.calls_per_s if paced else math.inf),
            datapoints=Pacer(settings.datapoints_per_s if paced else math.inf),
            parallel=settings.parallel_calls,
            query_cost=query_cost(settings),
        ),
        prices=AwsPrices(
            shipped=load_prices(Path(scope.prices)) if scope.prices else shipped_prices(AWS),
            sessions=None if scope.prices else sessions,
            today=today,
        ),
        bench=lambda: AwsBench(sessions=sessions, results=settings.results_bucket or None),
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
    """How to enter each account of the Organization that the scope names, and which cannot be entered."""
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
