"""The service as its functions run it: over AWS's own services, as their environment says."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import boto3

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap import clock, connected_ports, console_link, envelope_library
from plimsoll.clouds.aws.connection import connection_of, members, open_accounts
from plimsoll.clouds.aws.errors import AUDITING, attempted
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.names import role_arn
from plimsoll.clouds.aws.published import object_link
from plimsoll.clouds.aws.service import BusEvents, DynamoClaims, StepExecutions
from plimsoll.clouds.aws.sessions import Credential, Sessions, check_regions
from plimsoll.clouds.aws.stores import DynamoHistory, S3Store
from plimsoll.clouds.cloud import Connection
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.registry import AWS, cloud_of_account
from plimsoll.clouds.scope import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence.envelope import Envelope
from plimsoll.ports import Bench, FailedTarget, Target
from plimsoll.service.config import ServiceConfig
from plimsoll.service.service import Places, Service
from plimsoll.settings import PREFIX, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesByCloud:
    """The places of each cloud, by the name that targets give it."""

    clouds: Mapping[str, Places]

    def accounts(self) -> Sequence[str | FailedTarget]:
        """Every account of every cloud, cloud by cloud."""
        return [account for places in self.clouds.values() for account in places.accounts()]

    def targets(self, account: str) -> Sequence[Target | FailedTarget]:
        """The account in each of its regions; BadInput for a cloud that is not audited from here."""
        return self._named(cloud_of_account(account).name, account).targets(account)

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger, sharing: int = 1) -> AuditPorts:
        """The ports of that target alone; BadInput for a cloud that is not audited from here."""
        there = self._named(target.provider, target)
        return there.ports(target, now=now, measured=measured, ledger=ledger, sharing=sharing)

    def bench(self, target: Target) -> Bench:
        """Where volumes of that target are measured; BadInput where none are."""
        return self._named(target.provider, target).bench(target)

    def prober(self, target: Target) -> Bench:
        """Where hosts of that target are read; BadInput where none are."""
        return self._named(target.provider, target).prober(target)

    def unmeasured(self, target: Target) -> str | None:
        """Why nothing can be measured there, None where it can."""
        there = self.clouds.get(target.provider)
        return without_bench(target) if there is None else there.unmeasured(target)

    def _named(self, cloud: str, place: Target | str) -> Places:
        try:
            return self.clouds[cloud]
        except KeyError as error:
            raise BadInput(
                f"{place} is of the cloud {cloud!r}, which is not in the scope of this service: see its configuration."
            ) from error


def without_bench(target: Target) -> str:
    """Why nothing is measured at a target of a cloud where the service has no bench."""
    return (
        f"nothing is measured in {target}: the service has no bench in the cloud {target.provider!r}. What is "
        "recommended there rests on published limits, and on what was measured elsewhere."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsPlaces:
    """The accounts of the configuration: the one that the service runs in as it is, the others by their roles.

    `home` is that account, `partition` the part of AWS that all are in. `paced`: keep to the quotas; a simulated cloud
    may have none.

    For each role, the account that was entered last stays open for its next region.
    No more stay open: the clients of a large organization would not fit into memory.
    """

    config: ServiceConfig
    settings: Settings
    home: str
    partition: str
    paced: bool = True
    _open: dict[str, tuple[str, Sessions]] = field(default_factory=dict, repr=False)

    def accounts(self) -> Sequence[str | FailedTarget]:
        """Every account that the configuration names, and what cannot be listed with why."""
        config = self.config
        check_regions(config.regions)
        scope = Scope(organization=config.organization, units=config.organizational_units, accounts=config.accounts)
        return members(scope, self.settings) if scope.names_members else [self.home]

    def targets(self, account: str) -> Sequence[Target | FailedTarget]:
        """The account in each of its regions, or why it cannot be entered."""
        regions, deadline_s = self.config.regions or None, self.settings.list_deadline_s
        entered = self._open_account(account, self.config.role_name)
        return AwsInventory(sessions=entered, regions=regions, list_deadline_s=deadline_s).targets()

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger, sharing: int = 1) -> AuditPorts:
        """The ports of that target alone, by the audit role, with what was measured in that folder."""
        connection = self._connection(target, self.config.role_name, today=now.date(), sharing=sharing)
        here = self.settings.model_copy(update={"runs_dir": measured, "campaigns_dir": measured})
        return connected_ports(AWS, connection, here, ledger)

    def bench(self, target: Target) -> Bench:
        """Where volumes of that target are measured, by the validation role."""
        return self._connection(target, self.config.validation_role_name, today=date.min).bench()

    def prober(self, target: Target) -> Bench:
        """Where hosts of that target are read, by the probe's role."""
        return self._connection(target, self.config.probe_role_name, today=date.min).bench()

    def unmeasured(self, target: Target) -> str | None:  # noqa: ARG002 - as for every cloud
        """None: every account may have bench hosts."""
        return None

    def _connection(self, target: Target, role_name: str, *, today: date, sharing: int = 1) -> Connection:
        """One account in one region, by that role; CloudError where it cannot be entered."""
        entered, there = self._entered(target.account, role_name), Scope(regions=(target.region,))
        log_days = self.config.parsed_policy.log_days
        return connection_of(
            entered, there, self.settings, today=today, paced=self.paced, log_days=log_days, sharing=sharing
        )

    def _entered(self, account: str, role_name: str) -> Sessions:
        """One account alone; CloudError where it cannot be entered."""
        entered = self._open_account(account, role_name)
        for failed in entered.failed:
            raise failed.error
        return entered

    def _open_account(self, account: str, role_name: str) -> Sessions:
        """One account alone, with why it cannot be entered where that is so."""
        last, entered = self._open.get(role_name, (None, None))
        if entered is None or last != account:
            arn = None if account == self.home else role_arn(account, role_name, self.partition)
            credential = Credential(role_arn=arn, external_id=self.config.external_id)
            entered = open_accounts([credential], self.settings)
            self._open[role_name] = account, entered
        return entered


MorePlaces = Callable[[ServiceConfig, Settings], Mapping[str, Places]]
"""What makes the places of further clouds, by the names that their targets give them."""


def aws_alone(_config: ServiceConfig, _settings: Settings) -> Mapping[str, Places]:
    """No further cloud. Functions that read no volumes, and those that measure, need AWS alone."""
    return {}


def service_of_environment(config: ServiceConfig, more: MorePlaces = aws_alone) -> Service:
    """The service with that configuration, in AWS and what is `more`; BadInput names the environment variable that is
    missing."""
    settings = Settings.of_environment()
    home, partition = _caller()
    at_home = AwsPlaces(config=config, settings=settings, home=home, partition=partition)
    return Service(
        config=config,
        settings=settings,
        places=PlacesByCloud(clouds={AWS: at_home, **more(config, settings)}),
        store=S3Store(bucket=_variable("BUCKET"), client=_client("s3")),
        root=f"s3://{_variable('BUCKET')}",
        measured=_measured_folder(),
        claims=DynamoClaims(table=_variable("COORDINATION_TABLE"), client=_client("dynamodb")),
        history=DynamoHistory(table=_variable("HISTORY_TABLE"), client=_client("dynamodb")),
        events=BusEvents(bus=_variable("EVENT_BUS"), client=_client("events")),
        executions=StepExecutions(client=_client("stepfunctions"), machines=_machines()),
        clock=clock(),
        envelopes=measured_envelopes,
        console_link=console_link,
        file_link=lambda key: object_link(
            _client("s3").meta.region_name, _variable("BUCKET"), key, partition=partition
        ),
    )


def measured_envelopes(measured: Path) -> Mapping[str, Envelope]:
    """Every measured envelope by name: those that ship, and those of that folder."""
    return envelope_library(measured).envelopes


def forget_process() -> None:
    """Lets everything that is kept for the process be found anew, where its environment is another."""
    _client.cache_clear()
    _caller.cache_clear()
    _measured_folder.cache_clear()


@cache
def _client(service: str) -> Any:
    return boto3.client(service)  # type: ignore[call-overload]  # the service's name is not a literal


@cache
def _caller() -> tuple[str, str]:
    """The account that the service runs in, and its partition."""
    with attempted("find out which account this is", "sts:GetCallerIdentity", AUDITING):
        found = _client("sts").get_caller_identity()
    return found["Account"], found["Arn"].split(":")[1]


@cache
def _measured_folder() -> Path:
    """A folder that lasts as long as the process, so that what was measured is brought once."""
    return Path(mkdtemp(prefix="plimsoll-measured-"))


def _machines() -> Mapping[str, str]:
    """The state machines that can be begun from here, by kind; only functions that begin one have them."""
    kinds = ("audit", "validation", "probe")
    return {kind: os.environ.get(f"{PREFIX}{kind.upper()}_MACHINE", "") for kind in kinds}


def _variable(name: str) -> str:
    try:
        return os.environ[PREFIX + name]
    except KeyError as error:
        raise BadInput(f"the environment lacks {PREFIX}{name}: deploy the service again.") from error
