"""The composition root: the only place that chooses which implementation fulfils which port."""

import math
import time
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.measured import envelope_library as envelope_library
from plimsoll.bootstrap.measured import validation_book as validation_book
from plimsoll.bootstrap.recorded import ports_recorded
from plimsoll.bootstrap.recorded import recording_ports as recording_ports
from plimsoll.bootstrap.scope import AWS as AWS
from plimsoll.bootstrap.scope import GOOGLE as GOOGLE
from plimsoll.bootstrap.scope import Scope as Scope
from plimsoll.bootstrap.scope import SignedIn as SignedIn
from plimsoll.bootstrap.scope import sign_in as sign_in
from plimsoll.clouds.aws.bench import AwsBench
from plimsoll.clouds.aws.catalog import AwsCatalog
from plimsoll.clouds.aws.console import console_link as aws_console_link
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.aws.outputs import ResultsBucket
from plimsoll.clouds.aws.price_book import shipped_prices
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.aws.query_cost import query_cost
from plimsoll.clouds.file_claims import FileClaims
from plimsoll.clouds.folder_store import FolderStore
from plimsoll.clouds.google.console import console_link as google_console_link
from plimsoll.clouds.ledger import Ledger, NotedInventory
from plimsoll.clouds.pacing import Pacer
from plimsoll.clouds.price_file import load_prices
from plimsoll.clouds.published import published_types
from plimsoll.clouds.recording import open_recording
from plimsoll.clouds.stripes import StripeBook
from plimsoll.domain.policy import Policy
from plimsoll.domain.sums import Window
from plimsoll.ports import Bench, Claims, Clock, RunStore
from plimsoll.reports.record import RecommendationRecord
from plimsoll.settings import Settings
from plimsoll.validation.patience import Patience

LEDGER = "ledger.json"
STRIPES = "stripes.json"
"""The ledger of changes and the book of stripe sets, in the folder of runs."""
CLAIMS = "claims"
"""The folder of claims, in the folder of what was measured."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return datetime.now(UTC)


def aws_bench(signed_in: SignedIn, settings: Settings) -> Bench:
    """The bench behind AWS's APIs."""
    bucket = settings.results_bucket
    return AwsBench(sessions=signed_in.sessions, results=ResultsBucket(name=bucket) if bucket else None)


def aws_ports(
    scope: Scope,
    settings: Settings,
    *,
    today: date,
    ledger: Ledger,
    paced: bool = True,
    signed_in: SignedIn | None = None,
) -> AuditPorts:
    """The ports behind AWS's APIs; BadInput for a region that does not exist or a price file that is none.

    `paced`: keep to the quotas; a simulated cloud may have none. `signed_in`: the accounts, where they are open
    already.
    """
    entered = signed_in or sign_in(scope, settings)
    sessions, failed = entered.sessions, entered.failed
    inventory = AwsInventory(sessions=sessions, regions=scope.regions_of(AWS) or None, failed=failed)
    book = load_prices(Path(scope.prices)) if scope.prices else shipped_prices()
    reckoned = query_cost(settings)
    return AuditPorts(
        inventory=NotedInventory(inventory=inventory, ledger=ledger),
        metrics=AwsMetrics(
            sessions=sessions,
            calls=Pacer(settings.calls_per_s if paced else math.inf),
            datapoints=Pacer(settings.datapoints_per_s if paced else math.inf),
            parallel=settings.parallel_calls,
            query_cost=reckoned,
        ),
        prices=AwsPrices(
            shipped=book,
            sessions=None if scope.prices else sessions,
            today=today,
        ),
        catalog=AwsCatalog(),
        envelopes=tuple(envelope_library(settings.measured_dir).envelopes.values()),
        query_cost=reckoned,
        failed_measurements=validation_book(settings).failed_measurements(),
        stripes=stripe_book(settings).sets,
        sold_elsewhere=frozenset(published_types()),
    )


def ports_of(scope: Scope, settings: Settings, *, today: date, ledger: Ledger, paced: bool = True) -> list[AuditPorts]:
    """A ports for each cloud of a scope, in the scope's order; errors as of `aws_ports`."""
    return [_ports_of_cloud(cloud, scope, settings, today=today, ledger=ledger, paced=paced) for cloud in scope.clouds]


def _ports_of_cloud(
    cloud: str, scope: Scope, settings: Settings, *, today: date, ledger: Ledger, paced: bool
) -> AuditPorts:
    if cloud != GOOGLE:
        return aws_ports(scope, settings, today=today, ledger=ledger, paced=paced)
    from plimsoll.bootstrap.google import google_ports  # noqa: PLC0415  # Google's libraries take a second to import

    return google_ports(scope, settings, today=today, ledger=ledger, paced=paced)


def recorded_ports(path: Path, settings: Settings) -> tuple[list[AuditPorts], datetime]:
    """A ports for each cloud that a recording has, and when it was made; BadInput where the file is none."""
    recordings = open_recording(path)
    return ports_recorded(recordings, settings, stripe_book(settings)), recordings[0].now


def measured_again(ports: AuditPorts, settings: Settings) -> AuditPorts:
    """The same ports with all that has been measured by now."""
    return replace(
        ports,
        envelopes=tuple(envelope_library(settings.measured_dir).envelopes.values()),
        failed_measurements=validation_book(settings).failed_measurements(),
    )


def change_ledger(settings: Settings) -> Ledger:
    """The ledger of changes; BadInput where it is damaged."""
    return Ledger.at(settings.runs_dir / LEDGER)


def stripe_book(settings: Settings) -> StripeBook:
    """The book of stripe sets; BadInput where it is damaged."""
    return StripeBook.load(settings.runs_dir / STRIPES)


def validation_claims(settings: Settings) -> Claims:
    """Who is measuring which class of volumes now."""
    return FileClaims(folder=settings.measured_dir / CLAIMS)


def validation_jobs(settings: Settings) -> RunStore:
    """The documents of validations that are under way, or whose process was killed."""
    return FolderStore(settings.runs_dir)


def patience_of(settings: Settings) -> Patience:
    """How long a bench is waited for."""
    return Patience.of(settings, now=clock().now, pause=time.sleep)


def console_link(volume: RecommendationRecord, policy: Policy, now: datetime) -> str:
    """Where the volume's demand over the policy's window can be seen in its cloud's own console."""
    window = Window.before(now, days=policy.lookback_days)
    if volume.provider == GOOGLE:
        place = volume.name or volume.volume_id
        return google_console_link(volume.account, volume.zone, place, window, policy.resolution_s, volume.hosts)
    return aws_console_link(volume.region, volume.volume_id, window, policy.resolution_s)


def clock() -> Clock:
    """The clock that runs go by."""
    return SystemClock()
