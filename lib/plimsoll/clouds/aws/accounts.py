"""The accounts of AWS: signing in to every account of a scope, and listing those of an Organization."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from plimsoll.clouds.aws.errors import translate_errors
from plimsoll.clouds.aws.lists import ASKED, Asker, AwsAnswer, Page
from plimsoll.clouds.aws.names import ACCOUNT_ID, role_arn
from plimsoll.clouds.aws.sessions import HOME_REGION, Credential, Sessions, check_regions
from plimsoll.clouds.common.answers import Waits, bad_answer
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.clouds.registry import AWS, CLOUDS
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.ports import Bench, FailedTarget
from plimsoll.settings import Settings


def sign_in(scope: Scope, settings: Settings) -> Sessions:
    """Signs in to every account of a scope; BadInput for a region that does not exist, or a scope of two kinds."""
    check_regions(scope.regions_of(AWS))
    if scope.names_members:
        credentials, failed = _member_credentials(scope, settings)
    else:
        credentials, failed = [Credential(profile=profile) for profile in scope.profiles] or [Credential()], []
    source = scope.profiles[0] if scope.profiles else None
    roles = [Credential(profile=source, role_arn=arn, external_id=scope.external_id) for arn in scope.role_arns]
    return open_accounts([*credentials, *roles], settings, failed)


def open_accounts(
    credentials: Sequence[Credential], settings: Settings, failed: Sequence[FailedTarget] = ()
) -> Sessions:
    """The accounts that these credentials lead to; what has `failed` before is kept with them."""
    connections = settings.parallel_calls + 2
    sessions = Sessions(
        attempts=settings.max_attempts, connections=connections, waits=Waits.of(settings), failed=list(failed)
    )
    sessions.sign_in(credentials)
    return sessions


def bench_of(sessions: Sessions, settings: Settings) -> Bench:
    """The bench that measures volumes of accounts that are open already."""
    bench: Bench = import_module(CLOUDS[AWS].bench).AwsBench(
        sessions=sessions, tags=settings.tags, results=settings.results_bucket or None
    )
    return bench


def members(scope: Scope, settings: Settings) -> Sequence[str | FailedTarget]:
    """The accounts of the Organization that the scope names, and what cannot be listed with why; none is entered."""
    caller = _caller(scope, settings)
    return caller.failed or _list_accounts(caller, scope)


def _member_credentials(scope: Scope, settings: Settings) -> tuple[list[Credential], list[FailedTarget]]:
    """Credentials for each account of the Organization that the scope names, and the accounts that have none."""
    if len(scope.profiles) > 1:
        raise BadInput(
            "with --organization, --unit or --account one --profile assumes the roles of all accounts: name one."
        )
    caller, base = _caller(scope, settings), _own(scope)
    if caller.failed:
        return [], caller.failed
    accounts = _list_accounts(caller, scope)
    ((home, session),) = caller.by_account.items()
    partition = session.get_partition_for_region(session.region_name or HOME_REGION)
    credentials = [
        base
        if account == home
        else replace(base, role_arn=role_arn(account, scope.role_name, partition), external_id=scope.external_id)
        for account in accounts
        if isinstance(account, str)
    ]
    return credentials, [account for account in accounts if isinstance(account, FailedTarget)]


def _own(scope: Scope) -> Credential:
    return Credential(profile=scope.profiles[0] if scope.profiles else None)


def _caller(scope: Scope, settings: Settings) -> Sessions:
    """Sessions with the account from which the Organization is listed and entered."""
    caller = Sessions(attempts=settings.max_attempts, connections=1, waits=Waits.of(settings))
    caller.sign_in([_own(scope)])
    return caller


def _list_accounts(caller: Sessions, scope: Scope) -> Sequence[str | FailedTarget]:
    ((home, session),) = caller.by_account.items()
    client = caller.client("organizations", home, session.region_name or HOME_REGION)
    listed = accounts_in(client, organization=scope.organization, units=scope.units, accounts=scope.accounts)
    return [*listed, *check_own_account(home, listed)] if scope.organization else listed


LISTING: Final = CallPurpose(
    goes_on="Its accounts are not audited",
    allow="run from the management account or a delegated administrator with that action, or name accounts instead",
    region="name another region",
    again="run again later",
)
_WHOLE: Final = "the Organization"
_ACTIVE: Final = "ACTIVE"
_INACTIVE: Final = frozenset({"PENDING_ACTIVATION", "SUSPENDED", "PENDING_CLOSURE", "CLOSED"})
"""The other states of an account (AWS Organizations API Reference, Account, read 2026-11-23)."""
_ACCOUNTS_BELOW: Final = "organizations:ListAccountsForParent"
_UNITS_BELOW: Final = "organizations:ListOrganizationalUnitsForParent"


class Account(AwsAnswer):
    """An account with its state; an endpoint that is not up to date has it as Status, which State replaces."""

    id: str = Field(pattern=f"^{ACCOUNT_ID}$")
    state: str | None = None
    status: str | None = None

    @model_validator(mode="after")
    def _check_state(self) -> "Account":
        if not (self.state or self.status):
            raise ValueError("State is missing")
        return self


class AccountsPage(Page):
    """A page of accounts."""

    accounts: tuple[Account, ...]

    @property
    def states(self) -> Iterator[tuple[str, str]]:
        """The accounts with their states."""
        return ((account.id, account.state or account.status or "") for account in self.accounts)


class OrganizationalUnit(AwsAnswer):
    """An organizational unit."""

    id: Annotated[str, Field(min_length=1)]


class UnitsPage(Page):
    """A page of organizational units."""

    organizational_units: tuple[OrganizationalUnit, ...]


def accounts_in(
    client: Any, *, organization: bool, units: Sequence[str], accounts: Sequence[str]
) -> Sequence[str | FailedTarget]:
    """The active accounts of the whole Organization, or of some units and those below, or of a list, each once.

    What cannot be audited is among them with the reason: an Organization or a unit that may not be listed or is empty,
    or a listed account that is not active in it. A caller who may not list the Organization gets the list as it is.

    `client` is boto3's of Organizations. BadInput where more than one of the three is asked for.
    """
    if [organization, bool(units), bool(accounts)].count(True) > 1:
        raise BadInput("give one of --organization, --unit and --account: each says which accounts there are.")
    if accounts:
        return _check_accounts(client, accounts)
    if organization:
        return _active_accounts(client, _WHOLE, None)
    return list(dict.fromkeys(account for unit in units for account in _active_accounts(client, unit, unit)))


def _active_accounts(client: Any, name: str, unit: str | None) -> Sequence[str | FailedTarget]:
    """The active accounts of a unit (None: of all), or the reason why there are none; by name what could not be listed,
    and what is in a state that nobody knows."""
    listed = list(_each_once(lambda: _all(client) if unit is None else _walk_accounts(client, unit, name), name))
    active: list[str | FailedTarget] = [entry for entry in listed if isinstance(entry, FailedTarget)]
    for account, state in (entry for entry in listed if not isinstance(entry, FailedTarget)):
        if state not in _INACTIVE:
            active.append(account if state == _ACTIVE else _outside(account, state))
    if not active:
        reason = f"{name} has no active account: name a unit that has one, or leave it out."
        return [FailedTarget(name=name, error=CloudError(reason))]
    return active


def check_own_account(home: str, listed: Sequence[str | FailedTarget]) -> Iterator[FailedTarget]:
    """The caller's own account if the list of its Organization lacks it, and nothing else says why: it is a member."""
    names = {entry.name if isinstance(entry, FailedTarget) else entry for entry in listed}
    if home in names or any(name.startswith(_WHOLE) for name in names):
        return
    what = f"it lacks {home}, which asks for it and is in it, so that other accounts may be missing"
    error = bad_answer(what, listed, call="organizations:ListAccounts", place="the accounts of the Organization")
    yield FailedTarget(name=home, error=error)


AccountState = tuple[str, str]
"""An account with its state."""


def _each_once(read: Callable[[], Iterator[AccountState]], name: str) -> Iterator[AccountState | FailedTarget]:
    """The accounts of a list, as far as it can be read, and why the others cannot be.

    A list that has an account twice is read again: in every healthy one, the second would be another's.
    """
    for last in (*[False] * (ASKED - 1), True):
        listed: list[AccountState] = []
        failed: CloudError | None = None
        try:
            for account in read():
                listed.append(account)  # noqa: PERF402  # what came before an error is kept
        except CloudError as error:
            failed = error
        twice = sorted(account for account, count in Counter(account for account, _ in listed).items() if count > 1)
        if last or not twice:
            break
    yield from dict(listed).items()
    if failed is not None:
        yield FailedTarget(name=name, error=failed)
    if twice:
        what = f"it has {', '.join(twice)} twice, so that another account may be missing"
        reason = bad_answer(what, twice, call="organizations:ListAccounts", place=f"the accounts of {name}")
        yield FailedTarget(name=f"{name}: what is listed twice", error=reason)


def _check_accounts(client: Any, accounts: Sequence[str]) -> Sequence[str | FailedTarget]:
    wanted = dict.fromkeys(accounts)
    try:
        states = dict(_all(client))
    except CloudError:
        return list(wanted)  # only those who may list the Organization can check; the roles decide for the others
    return [account if states.get(account) == _ACTIVE else _outside(account, states.get(account)) for account in wanted]


def _outside(account: str, state: str | None) -> FailedTarget:
    why = "it is not in this Organization" if state is None else f"its state in the Organization is {state}"
    reason = (
        f"cannot audit {account}: {why}. Check the number, or leave it out of the accounts; the others are audited."
    )
    return FailedTarget(name=account, error=CloudError(reason))


def _all(client: Any) -> Iterator[tuple[str, str]]:
    asker = Asker(place="the accounts of the Organization")
    with translate_errors("list the accounts of the Organization", "organizations:ListAccounts", LISTING):
        for page in asker.pages(AccountsPage, client.list_accounts, "organizations:ListAccounts"):
            yield from page.states


def _walk_accounts(client: Any, unit: str, name: str) -> Iterator[tuple[str, str]]:
    """The accounts under a unit and under those in it; `name` is that of the first, for what goes wrong."""
    asker = Asker(place=f"the accounts of {name}")
    units, seen = [unit], {unit}
    while units:
        parent = units.pop(0)
        with translate_errors(f"list the accounts of {name}", _ACCOUNTS_BELOW, LISTING):
            for page in asker.pages(AccountsPage, client.list_accounts_for_parent, _ACCOUNTS_BELOW, ParentId=parent):
                yield from page.states
        with translate_errors(f"list the units of {name}", _UNITS_BELOW, LISTING):
            asked = asker.pages(UnitsPage, client.list_organizational_units_for_parent, _UNITS_BELOW, ParentId=parent)
            children = [child.id for answer in asked for child in answer.organizational_units]
        again = sorted(seen.intersection(children) | {child for child in children if children.count(child) > 1})
        if again:
            what = f"the unit {again[0]} is listed twice, so that another may be missing"
            raise bad_answer(what, children, call=_UNITS_BELOW, place=f"the units of {parent}")
        seen.update(children)
        units[:0] = children
