"""The service: the tools of all its parts, chosen in one place and given to each."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from plimsoll.clouds.registry import cloud_named
from plimsoll.model.errors import BadInput
from plimsoll.ports import FailedTarget, Target

if TYPE_CHECKING:
    # Each part imports what it works with of these: most need neither what audits nor what measures.
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from plimsoll.auditing.ports import AuditPorts
    from plimsoll.clouds.ledger import Ledger
    from plimsoll.model.envelope import Envelope
    from plimsoll.model.policy import Policy
    from plimsoll.ports import Bench, Claims, Clock, Events, Executions, FactStore, HistoryStore, RunStore
    from plimsoll.reports.record import RecommendationRecord
    from plimsoll.settings import Settings
    from plimsoll_change.ports import ChangeTools, VolumeTagger
    from plimsoll_service.config import ServiceConfig


class ServicePlaces(Protocol):
    """The places of audits and measurements: each account is entered alone, with its own role."""

    def accounts(self) -> Sequence[str | FailedTarget]:
        """Every account in the configuration, and each one that cannot be listed with its reason; none is entered.

        Raises BadInput for a region that does not exist.
        """

    def targets(self, account: str) -> Sequence[Target | FailedTarget]:
        """The account in each of its regions, or why it cannot be entered."""

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger, sharing: int = 1) -> AuditPorts:
        """The ports of one target by the audit role, with the measurements in a folder.

        `sharing` parts of a run share its quota of metric calls. Raises CloudError if it cannot be entered.
        """

    def bench(self, target: Target) -> Bench:
        """The bench of the target's volumes, by the validation role. Raises CloudError if it cannot be entered."""

    def prober(self, target: Target) -> Bench:
        """The reader of the target's hosts, by the probe's role. Raises CloudError if it cannot be entered."""

    def tagger(self, target: Target) -> VolumeTagger:
        """The target's volumes, by the role for plans of changes. Raises CloudError if it cannot be entered."""

    def change_tools(self, accounts: Collection[str]) -> ChangeTools:
        """The volumes of these accounts, by the role for changes. Calls say why one cannot be entered."""


def unmeasured_reason(target: Target) -> str | None:
    """The reason why the service can measure nothing at a target, a sentence or two. None if it can."""
    cloud = cloud_named(target.provider)
    if cloud is not None and cloud.measured_by_service:
        return None
    return (
        f"nothing is measured in {target}: the service has no bench in the cloud {target.provider!r}. "
        "Recommendations there rest on published limits, and on measurements from elsewhere."
    )


def every_target(places: ServicePlaces) -> Iterator[Target | FailedTarget]:
    """Every target of every account, one account after the other, and each that cannot be entered with its reason."""
    for account in places.accounts():
        if isinstance(account, FailedTarget):
            yield account
        else:
            yield from places.targets(account)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The tools of every part of the service."""

    config: ServiceConfig
    settings: Settings
    places: ServicePlaces
    store: RunStore
    root: str  # stands before a key where people are told it, such as s3://bucket
    measured: Path  # the folder on this machine that what was measured is brought to
    claims: Claims
    history: HistoryStore
    events: Events
    executions: Executions
    clock: Clock
    envelopes: Callable[[Path], Mapping[str, Envelope]]  # the measured ones by name, with those in that folder
    console_link: Callable[[RecommendationRecord, Policy, datetime], str]  # to a volume's demand as of a time
    pause: Callable[[float], None] = time.sleep
    file_link: Callable[[str], str | None] = lambda _key: None  # to a file of the store in a browser, by its key
    facts: FactStore | None = None  # plans, their ledgers and people's words; None where nothing is changed
    is_killed: Callable[[], bool] = lambda: False  # the switch that ends what has not begun

    @property
    def change_facts(self) -> FactStore:
        """The store of facts. Raises BadInput if the service has none."""
        if self.facts is None:
            raise BadInput("this service changes nothing: deploy it with with_changes=true.")
        return self.facts
