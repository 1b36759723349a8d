"""The places of Google Cloud: the projects of the configuration, which the functions' AWS roles may read without a key.

What brings Google's libraries is imported when it is first used, so that a service without projects never loads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.errors import BadInput, CloudError, NotMeasured
from plimsoll.ports import Bench, FailedTarget, Target
from plimsoll.settings import Settings
from plimsoll_google.names import UNPROBED
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.config import ServiceConfig
from plimsoll_service.service import ServicePlaces, unmeasured_reason

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from plimsoll.auditing.ports import AuditPorts
    from plimsoll.clouds.ledger import Ledger
    from plimsoll_change.ports import ChangeTools, VolumeTagger


def all_places(config: ServiceConfig, settings: Settings) -> Mapping[str, ServicePlaces]:
    """The places of every cloud by its name, for functions that audit."""
    return {**aws_places(config, settings), **google_places(config, settings)}


def google_places(config: ServiceConfig, settings: Settings) -> Mapping[str, ServicePlaces]:
    """The places of Google Cloud by its name; none where no project is in scope."""
    return {GOOGLE: GooglePlaces(config=config, settings=settings)} if config.audits_google else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class GooglePlaces:
    """The projects of the configuration, all read by the credentials that it names.

    `paced`: keep to the quotas; a simulated project may have none.
    """

    config: ServiceConfig
    settings: Settings
    paced: bool = True

    def accounts(self) -> Sequence[str | FailedTarget]:
        """Every project in scope, and those that cannot be listed with why: they cost no other cloud."""
        from plimsoll_service.bootstrap.google_projects import projects_of  # noqa: PLC0415  # with Google's libraries

        try:
            return projects_of(self.config, self.settings)
        except CloudError as error:
            return [FailedTarget(name="the projects of Google Cloud", error=error)]

    def targets(self, account: str) -> Sequence[Target | FailedTarget]:
        """The project in each of its regions, or why it cannot be entered."""
        from plimsoll_service.bootstrap.google_projects import project_targets  # noqa: PLC0415  # as above

        try:
            return project_targets(account, self.config, self.settings)
        except CloudError as error:
            return [FailedTarget(name=account, error=error)]

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger, sharing: int = 1) -> AuditPorts:
        """The ports of that target alone, with what was measured in that folder."""
        from plimsoll_service.bootstrap.google_projects import project_ports  # noqa: PLC0415  # as above

        here = self.settings.model_copy(update={"runs_dir": measured, "campaigns_dir": measured})
        return project_ports(
            target, self.config, here, today=now.date(), ledger=ledger, paced=self.paced, sharing=sharing
        )

    def bench(self, target: Target) -> Bench:
        """NotMeasured: the service has no bench there."""
        raise NotMeasured(unmeasured_reason(target))

    def prober(self, target: Target) -> Bench:
        """NotMeasured: nothing is probed there."""
        raise NotMeasured(f"{target}: {UNPROBED}")

    def tagger(self, target: Target) -> VolumeTagger:
        """BadInput: changes there are text for the owner."""
        raise BadInput(f"{target}: the service changes nothing there.")

    def change_tools(self, accounts: Collection[str]) -> ChangeTools:
        """BadInput: changes there are text for the owner."""
        raise BadInput(f"{', '.join(sorted(accounts))}: the service changes nothing there.")
