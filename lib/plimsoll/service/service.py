"""The service: everything that its parts work with, chosen in one place and given to each."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.evidence.envelope import Envelope
from plimsoll.domain.policy import Policy
from plimsoll.ports import Bench, Claims, Clock, Events, Executions, FailedTarget, History, RunStore, Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.service.config import ServiceConfig
from plimsoll.settings import Settings


class Places(Protocol):
    """Where the service audits and measures: each account is entered alone, with its own role."""

    def accounts(self) -> Sequence[str | FailedTarget]:
        """Every account that the configuration names, and what cannot be listed with why; none of them is entered.

        BadInput for a region that does not exist.
        """

    def targets(self, account: str) -> Sequence[Target | FailedTarget]:
        """The account in each of its regions, or why it cannot be entered."""

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger, sharing: int = 1) -> AuditPorts:
        """The ports of that target alone, by the audit role, with what was measured in that folder. So many that are
        under way share its quota of metric calls.

        CloudError where it cannot be entered.
        """

    def bench(self, target: Target) -> Bench:
        """Where volumes of that target are measured, by the validation role; CloudError where it cannot be entered."""

    def prober(self, target: Target) -> Bench:
        """Where hosts of that target are read, by the probe's role; CloudError where it cannot be entered."""

    def unmeasured(self, target: Target) -> str | None:
        """Why nothing can be measured at that target, a sentence; None where it can."""


def every_target(places: Places) -> Iterator[Target | FailedTarget]:
    """Every target of every account, one account after the other, and what cannot be entered with why."""
    for account in places.accounts():
        if isinstance(account, FailedTarget):
            yield account
        else:
            yield from places.targets(account)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What every part of the service works with.

    `root` stands before a key where people are told it, such as s3://bucket; `measured` is the folder on this machine
    that what was measured is brought to. `envelopes` are the measured ones by name, with those in that folder;
    `console_link` says where a volume's demand by a policy, as of a time, can be seen. `pause`
    lets a number of seconds pass, and `file_link` says where a file of the store can be opened in a browser, by its
    key; None where it cannot.
    """

    config: ServiceConfig
    settings: Settings
    places: Places
    store: RunStore
    root: str
    measured: Path
    claims: Claims
    history: History
    events: Events
    executions: Executions
    clock: Clock
    envelopes: Callable[[Path], Mapping[str, Envelope]]
    console_link: Callable[[RecommendationRecord, Policy, datetime], str]
    pause: Callable[[float], None] = time.sleep
    file_link: Callable[[str], str | None] = lambda _key: None
