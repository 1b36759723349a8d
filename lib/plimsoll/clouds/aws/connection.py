"""A connection to AWS: the ports over every account of a scope."""

import math
from datetime import date
from pathlib import Path

from plimsoll.clouds.aws.accounts import bench_of, sign_in
from plimsoll.clouds.aws.catalog import query_cost
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.aws.trail import LOOKUPS_A_SECOND
from plimsoll.clouds.cloud import Connection
from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.common.dated_data import load_prices, shipped_prices
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.settings import Settings


def connect_scope(
    scope: Scope, settings: Settings, *, today: date, paced: bool = True, log_days: float = 0.0
) -> Connection:
    """The ports over every account of a scope; BadInput for a region that does not exist."""
    return connection_of(sign_in(scope, settings), scope, settings, today=today, paced=paced, log_days=log_days)


def connection_of(
    sessions: Sessions,
    scope: Scope,
    settings: Settings,
    *,
    today: date,
    paced: bool = True,
    log_days: float = 0.0,
    sharing: int = 1,
) -> Connection:
    """The ports over accounts that are open already.

    So many processes share the quota of metric calls: each keeps to its part. What is asked for does not depend on it.
    """
    return Connection(
        inventory=AwsInventory(
            sessions=sessions,
            regions=scope.regions_of(AWS) or None,
            list_deadline_s=settings.list_deadline_s,
            trail_days=log_days,
            lookups=Pacer(LOOKUPS_A_SECOND if paced else math.inf),
        ),
        metrics=AwsMetrics(
            sessions=sessions,
            calls=Pacer(settings.calls_per_s / sharing if paced else math.inf),
            datapoints=Pacer(settings.datapoints_per_s / sharing if paced else math.inf),
            parallel=settings.parallel_calls,
            query_cost=query_cost(settings),
            read_deadline_s=settings.read_deadline_s,
            most_calls=settings.metric_calls_a_run,
        ),
        prices=AwsPrices(
            shipped=load_prices(Path(scope.prices)) if scope.prices else shipped_prices(AWS),
            sessions=None if scope.prices else sessions,
            today=today,
            list_deadline_s=settings.list_deadline_s,
        ),
        bench=lambda: bench_of(sessions, settings),
    )
