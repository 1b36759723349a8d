"""The face of a cloud's package: the facts it publishes, and a connection to the accounts of a scope."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    # Every report reads what is published, and most need nothing of what reading metrics takes.
    from collections.abc import Sequence
    from datetime import date

    from plimsoll.clouds.registry import Cloud
    from plimsoll.clouds.scope import Scope
    from plimsoll.model.ceiling import Ceiling
    from plimsoll.model.volume import HostLimits
    from plimsoll.ports import Bench, Catalog, Inventory, Metrics, Prices
    from plimsoll.reading.cost import QueryCost
    from plimsoll.reading.window import Window
    from plimsoll.settings import Settings


class ShownVolume(Protocol):
    """A volume as a console link needs it. `name` is what it is called, `hosts` are the ids of its hosts."""

    @property
    def account(self) -> str: ...  # named by its class
    @property
    def region(self) -> str: ...
    @property
    def zone(self) -> str: ...
    @property
    def volume_id(self) -> str: ...
    @property
    def name(self) -> str | None: ...
    @property
    def hosts(self) -> Sequence[str]: ...


def no_cap(_host_type: str, _type_name: str) -> Ceiling | None:
    """None: the cloud publishes no limit that the volumes of one type share on a host."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedHost:
    """The published limits of a host type for all its volumes together, with their source."""

    limits: HostLimits
    source: str


def no_host(_host_type: str) -> PublishedHost | None:
    """None: no limit of a host is known without asking the cloud."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The facts of a cloud that are known without asking it.

    - `catalog` has the volume types, and says how a change is made.
    - `query_cost` is what reading metrics costs by some settings.
    - `console_link` is the address of a volume's demand over a window, at a period in seconds.
    - `host_cap` is what all volumes of a type carry together on a host of a type; None where none is published.
    - `host` is what all volumes of a host carry together by its type; None where that is not known.
    """

    catalog: Catalog
    query_cost: Callable[[Settings], QueryCost]
    console_link: Callable[[ShownVolume, Window, int], str]
    host_cap: Callable[[str, str], Ceiling | None] = no_cap
    host: Callable[[str], PublishedHost | None] = no_host


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A cloud's ports over the accounts of a scope. `bench` makes what measures there."""

    inventory: Inventory
    metrics: Metrics
    prices: Prices
    bench: Callable[[], Bench]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The accounts that a connection is to reach, and the quotas that it keeps to."""

    scope: Scope
    settings: Settings
    today: date
    paced: bool = True  # False: a simulated cloud may have no quotas
    log_days: float = 0.0  # how far back the cloud's own log of changes is read; 0: not at all
    every_region: bool = False  # nobody named the scope's regions: they are of all that an account has
    sharing: int = 1  # processes that share the quota of metric calls; the queries do not depend on it

    def limit_rate(self, a_second: float) -> float:
        """The calls a second within a quota."""
        return a_second if self.paced else math.inf


Connect = Callable[[Reach], Connection]
"""Reaches the accounts of a scope. Raises BadInput for a region, an account or a price file that cannot be used."""


def published_facts(cloud: Cloud) -> Published:
    """The facts of a cloud that are known without asking it."""
    facts: Published = import_module(f"{cloud.package}.catalog").PUBLISHED_FACTS
    return facts


def scope_connector(cloud: Cloud) -> Connect:
    """The function that reaches the accounts of a scope in a cloud. This imports the cloud's own libraries."""
    connect: Connect = import_module(f"{cloud.package}.connection").connect_scope
    return connect
