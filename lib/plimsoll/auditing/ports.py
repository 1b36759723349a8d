"""The ports of an audit of one cloud, and what it brings along that is known already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.auditing.at_once import Deciders, Stages
from plimsoll.decide.evidence import FailedMeasurement
from plimsoll.decide.groups import StripeSet
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.model.envelope import Envelope
from plimsoll.ports import Catalog, Inventory, Metrics, Prices
from plimsoll.reading.cost import QueryCost
from plimsoll.risk.learn import LearnedTable

BATCH_VOLUMES = 500
"""Volumes whose metrics are read together. A host's volumes stay together, so a batch can be larger."""

BY_MINUTES_S = 60.0
"""Seconds that a run waits, by the quotas of a cloud, to read small targets by the minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPorts:
    """The sources of an audit of one cloud, with the measurements that exist already.

    - `query_cost` weighs how finely metrics are read. `every_minute` reads all of them whole, `by_minutes` those of the
      window, and of the time before it what answers need.
    - The work of those in `shown`, by volume id, is read by the minute (`shown_first`).
    - `by_minutes_s` is how long a run may take to read small targets by the minute (`which_reading`).
    - `failed_measurements` are the configurations that failed a validation.
    - The volumes of a set in `stripes` are decided together.
    - `batch_volumes` is the number of volumes whose metrics are read together, about.
    - `excluded` are volumes that people left out: why, by id. They have no answer but load their hosts.
    - `learned` is what headroom keeps which risk; None where nothing was learned.
    - `seen` is what a probe saw last of each volume that was probed, by account, region and id.
    - `sold_elsewhere` are the types of other clouds, which a policy may name too.
    - `denied_places_expected`: what an organization's policy denies is noted, and no failure.
    - `deciders` are the processes that decide; by default all is decided in this one.
    """

    inventory: Inventory
    metrics: Metrics
    prices: Prices
    catalog: Catalog
    envelopes: Sequence[Envelope]
    query_cost: QueryCost
    stages: Stages = field(default_factory=Stages)
    every_minute: bool = False
    by_minutes: bool = False
    by_minutes_s: float = BY_MINUTES_S
    shown: frozenset[str] = frozenset()
    failed_measurements: tuple[FailedMeasurement, ...] = ()
    stripes: Sequence[StripeSet] = ()
    batch_volumes: int = BATCH_VOLUMES
    excluded: Mapping[str, str] = field(default_factory=dict)
    sold_elsewhere: frozenset[str] = frozenset()
    deciders: Deciders = field(default_factory=lambda: Deciders(0), repr=False)
    learned: LearnedTable | None = None
    denied_places_expected: bool = False
    seen: Mapping[tuple[str, str, str], SecondsSeen] = field(default_factory=dict, repr=False)

    @property
    def known_types(self) -> frozenset[str]:
        """The types that a policy may name: one policy serves several clouds."""
        return self.sold_elsewhere.union(self.catalog.types)
