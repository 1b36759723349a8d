"""The composition root: the only place that chooses which implementation fulfils which port."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

from plimsoll.audit import World
from plimsoll.clouds.aws.catalogue import AwsCatalogue
from plimsoll.clouds.aws.console import console_link as aws_console_link
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.limits import volume_types
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.aws.pacing import Pacer
from plimsoll.clouds.aws.price_file import load_prices, shipped_prices
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.aws.sessions import Credential, Sessions, check_regions
from plimsoll.clouds.ledger import Ledger, NotedInventory
from plimsoll.clouds.recorder import Recorder, RecordingInventory, RecordingMetrics, RecordingPrices
from plimsoll.clouds.recording import Recording
from plimsoll.domain.policy import Policy
from plimsoll.domain.sums import Window
from plimsoll.domain.volume import Volume
from plimsoll.envelopes.library import EnvelopeLibrary, load_library, shipped_campaigns
from plimsoll.ports import Clock
from plimsoll.settings import Settings


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which accounts and regions an audit covers, and a price file to use instead of AWS's list."""

    profiles: tuple[str, ...] = ()
    role_arns: tuple[str, ...] = ()
    external_id: str | None = None
    regions: tuple[str, ...] = ()
    prices: str | None = None

    def as_dict(self) -> dict[str, object]:
        """The scope for run.json."""
        return {
            "profiles": list(self.profiles),
            "role_arns": list(self.role_arns),
            "external_id": self.external_id,
            "regions": list(self.regions),
            "prices": self.prices,
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, object]) -> "Scope":
        """The scope in a run.json."""

        def words(key: str) -> tuple[str, ...]:
            value = found.get(key)
            return tuple(str(word) for word in value) if isinstance(value, list) else ()

        external_id, prices = found.get("external_id"), found.get("prices")
        return cls(
            profiles=words("profiles"),
            role_arns=words("role_arns"),
            external_id=None if external_id is None else str(external_id),
            regions=words("regions"),
            prices=None if prices is None else str(prices),
        )


def aws_world(scope: Scope, settings: Settings, *, today: date, ledger: Ledger, paced: bool = True) -> World:
    """The world behind AWS's APIs; BadInput for a region that does not exist or a price file that is none.

    `paced`: keep to the quotas; a simulated cloud may have none.
    """
    check_regions(scope.regions)
    sessions = Sessions(attempts=settings.max_attempts, connections=settings.parallel_calls + 2)
    failed = sessions.sign_in(_credentials(scope))
    inventory = AwsInventory(sessions=sessions, regions=scope.regions or None, failed=failed)
    book = load_prices(Path(scope.prices)) if scope.prices else shipped_prices()
    return World(
        inventory=NotedInventory(inventory=inventory, ledger=ledger),
        metrics=AwsMetrics(
            sessions=sessions,
            calls=Pacer(settings.calls_per_s if paced else math.inf),
            datapoints=Pacer(settings.datapoints_per_s if paced else math.inf),
            parallel=settings.parallel_calls,
            tariff=settings.tariff,
        ),
        prices=AwsPrices(
            shipped=book,
            sessions=None if scope.prices else sessions,
            today=today,
        ),
        catalogue=AwsCatalogue(),
        envelopes=tuple(envelope_library(settings.campaigns_dir).envelopes.values()),
        tariff=settings.tariff,
    )


def recorded_world(recording: Recording, settings: Settings) -> World:
    """The world as a recording has it."""
    return World(
        inventory=recording,
        metrics=recording,
        prices=recording,
        catalogue=AwsCatalogue(),
        envelopes=tuple(envelope_library(settings.campaigns_dir).envelopes.values()),
        tariff=settings.tariff,
        every_minute=True,
    )


def recording_world(world: World, recorder: Recorder) -> World:
    """The same world, recorded as it is read: every minute, so that another policy can decide by it as well."""
    return World(
        inventory=RecordingInventory(inventory=world.inventory, recorder=recorder),
        metrics=RecordingMetrics(metrics=world.metrics, recorder=recorder),
        prices=RecordingPrices(prices=world.prices, recorder=recorder),
        catalogue=world.catalogue,
        envelopes=world.envelopes,
        tariff=world.tariff,
        stages=world.stages,
        every_minute=True,
    )


@cache
def envelope_library(campaigns: Path | None = None) -> EnvelopeLibrary:
    """Every measured campaign that ships, and those in the user's own folder."""
    folders = [shipped_campaigns(), *([campaigns] if campaigns else [])]
    return load_library(folders, volume_types())


def console_link(volume: Volume, policy: Policy, now: datetime) -> str:
    """Where the volume's demand over the policy's window can be seen in its cloud's own console."""
    window = Window.before(now, days=policy.lookback_days)
    return aws_console_link(volume, window, policy.resolution_s)


def clock() -> Clock:
    """The clock that runs go by."""
    return SystemClock()


def _credentials(scope: Scope) -> list[Credential]:
    profiles = [Credential(profile=profile) for profile in scope.profiles]
    source = scope.profiles[0] if scope.profiles else None
    roles = [Credential(profile=source, role_arn=arn, external_id=scope.external_id) for arn in scope.role_arns]
    return [*(profiles or [Credential()]), *roles]
