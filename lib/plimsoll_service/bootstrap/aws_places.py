"""The places of AWS: the accounts of the configuration, each entered by a role of its own.

What audits there is imported when it is first used: a step that measures does without.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.clouds.aws.accounts import bench_of, members, open_accounts
from plimsoll.clouds.aws.names import role_arn
from plimsoll.clouds.aws.sessions import Credential, Sessions, check_regions
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.ports import Bench, FailedTarget, Target
from plimsoll.settings import Settings
from plimsoll_service.bootstrap.service import caller
from plimsoll_service.config import ServiceConfig
from plimsoll_service.service import ServicePlaces

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from plimsoll.auditing.ports import AuditPorts
    from plimsoll.clouds.ledger import Ledger
    from plimsoll_change.ports import ChangeTools, VolumeTagger


def aws_places(config: ServiceConfig, settings: Settings) -> Mapping[str, ServicePlaces]:
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
        """Every account in the configuration, and each one that cannot be listed with its reason."""
        config = self.config
        check_regions(config.regions)
        scope = Scope(organization=config.organization, units=config.organizational_units, accounts=config.accounts)
        return members(scope, self.settings) if scope.names_members else [self.home]

    def targets(self, account: str) -> Sequence[Target | FailedTarget]:
        """The account in each of its regions, or why it cannot be entered."""
        from plimsoll_service.bootstrap.aws_accounts import account_targets  # noqa: PLC0415  # with all that audits

        return account_targets(self._open_account(account, self.config.role_name), self.config, self.settings)

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger, sharing: int = 1) -> AuditPorts:
        """The ports of a target by the audit role, with the measurements in a folder."""
        from plimsoll_service.bootstrap.aws_accounts import account_ports  # noqa: PLC0415  # as above

        return account_ports(
            self._enter(target.account, self.config.role_name),
            target,
            self.config,
            self.settings,
            today=now.date(),
            measured=measured,
            ledger=ledger,
            paced=self.paced,
            sharing=sharing,
        )

    def bench(self, target: Target) -> Bench:
        """The bench of the target's volumes, by the validation role."""
        return bench_of(self._enter(target.account, self.config.validation_role_name), self.settings)

    def prober(self, target: Target) -> Bench:
        """The reader of the target's hosts, by the probe's role."""
        return bench_of(self._enter(target.account, self.config.probe_role_name), self.settings)

    def tagger(self, target: Target) -> VolumeTagger:
        """The target's volumes, to plan changes of, by the role for plans."""
        from plimsoll_service.bootstrap.aws_changes import account_changer  # noqa: PLC0415  # for changes alone

        return account_changer(self._enter(target.account, self.config.change_plan_role_name), self.settings)

    def change_tools(self, accounts: Collection[str]) -> ChangeTools:
        """The volumes of these accounts, all of them open at once, by the role for changes."""
        from plimsoll_service.bootstrap.aws_changes import open_tools  # noqa: PLC0415  # as above

        role = self.config.change_role_name
        credentials = [self._credential(account, role) for account in sorted(accounts)]
        return open_tools(open_accounts(credentials, self.settings), self.settings, paced=self.paced)

    def _enter(self, account: str, role_name: str) -> Sessions:
        """One account alone. Raises CloudError if it cannot be entered."""
        entered = self._open_account(account, role_name)
        for failed in entered.failed:
            raise failed.error
        return entered

    def _open_account(self, account: str, role_name: str) -> Sessions:
        """One account alone; its failure says why if it cannot be entered."""
        last, entered = self._open.get(role_name, (None, None))
        if entered is None or last != account:
            entered = open_accounts([self._credential(account, role_name)], self.settings)
            self._open[role_name] = account, entered
        return entered

    def _credential(self, account: str, role_name: str) -> Credential:
        """The way into an account by a role: none but the service's own into that which it runs in."""
        arn = role_arn(account, role_name, self.partition, self.config.role_path)
        return Credential(role_arn=None if account == self.home else arn, external_id=self.config.external_id)
