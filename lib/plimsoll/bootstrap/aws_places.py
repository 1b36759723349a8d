"""The places of AWS: the accounts of the configuration, each entered by a role of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.clouds import connected_ports
from plimsoll.bootstrap.service import caller
from plimsoll.clouds.aws.connection import connection_of, members, open_accounts
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.names import role_arn
from plimsoll.clouds.aws.sessions import Credential, Sessions, check_regions
from plimsoll.clouds.cloud import Connection
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.ports import Bench, FailedTarget, Target
from plimsoll.service.config import ServiceConfig
from plimsoll.service.service import Places
from plimsoll.settings import Settings


def aws_places(config: ServiceConfig, settings: Settings) -> Mapping[str, Places]:
    """The places of AWS by its name, for functions that measure: Google Cloud has no bench."""
    home, partition = caller()
    return {AWS: AwsPlaces(config=config, settings=settings, home=home, partition=partition)}


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
