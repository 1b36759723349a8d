"""A small fleet with something to find in every account, for tests in which failures matter and not workloads."""

from datetime import UTC, datetime

from cloud_simulator.aws.fleet import Fleet, bench_hosts
from cloud_simulator.aws.organization import ACCOUNTS, AWS_REGIONS
from cloud_simulator.aws.volume_maker import VolumeMaker, gp2
from cloud_simulator.metrics.workloads import Archetype


def a_small_organization() -> Fleet:
    """Three accounts with two volumes each in one region, at the present time."""
    now = datetime.now(UTC).replace(microsecond=0)
    makers = [VolumeMaker(now, account, AWS_REGIONS[0], index) for index, account in enumerate(ACCOUNTS)]
    for maker in makers:
        maker.volume(gp2(500), Archetype.STEADY, "app", low=100, high=600)
        maker.volume(gp2(1000), Archetype.DIURNAL, "db", low=50, high=900)
    made = tuple(volume for maker in makers for volume in maker.volumes)
    return Fleet(now=now, accounts=ACCOUNTS, regions=AWS_REGIONS[:1], volumes=made, standing=bench_hosts(made))
