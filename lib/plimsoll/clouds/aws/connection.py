"""A connection to AWS: the ports over every account of a scope."""

from plimsoll.clouds.aws.accounts import bench_of, sign_in
from plimsoll.clouds.aws.catalog import query_cost
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.aws.trail import LOOKUPS_A_SECOND
from plimsoll.clouds.cloud import Connection, Reach
from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.common.dated_data import given_prices
from plimsoll.clouds.registry import AWS


def connect_scope(reach: Reach) -> Connection:
    """The ports over every account of a scope. Raises BadInput for a region that does not exist."""
    return connection_of(sign_in(reach.scope, reach.settings), reach)


def connection_of(sessions: Sessions, reach: Reach) -> Connection:
    """The ports over accounts that are open already."""
    scope, settings = reach.scope, reach.settings
    return Connection(
        inventory=AwsInventory(
            sessions=sessions,
            regions=scope.regions_of(AWS) or None,
            are_regions_named=bool(scope.regions_of(AWS)) and not reach.every_region,
            list_deadline_s=settings.list_deadline_s,
            trail_days=reach.log_days,
            lookups=Pacer(reach.limit_rate(LOOKUPS_A_SECOND)),
        ),
        metrics=AwsMetrics(
            sessions=sessions,
            calls=Pacer(reach.limit_rate(settings.calls_per_s / reach.sharing)),
            datapoints=Pacer(reach.limit_rate(settings.datapoints_per_s / reach.sharing)),
            parallel=settings.parallel_calls,
            query_cost=query_cost(settings),
            read_deadline_s=settings.read_deadline_s,
            most_calls=settings.metric_calls_a_run,
        ),
        prices=AwsPrices(
            shipped=given_prices(scope.prices, AWS),
            sessions=None if scope.prices else sessions,
            today=reach.today,
            list_deadline_s=settings.list_deadline_s,
        ),
        bench=lambda: bench_of(sessions, settings),
    )
