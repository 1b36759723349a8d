"""How long operations took, as CloudWatch tells it."""

from datetime import timedelta

import pytest

from .served import NOW, named, points, query


def totals(account, name, hours):
    """Sums of seconds and operations of both directions over an hour of a day, by their metrics."""
    volume = named(account.fleet, name)
    metrics = ("VolumeTotalReadTime", "VolumeTotalWriteTime", "VolumeReadOps", "VolumeWriteOps")
    start = NOW.replace(hour=0, minute=0) - timedelta(days=1) + timedelta(hours=hours)
    asked = [query(volume, metric, metric.lower(), Period=3600) for metric in metrics]
    answer = account.client("cloudwatch").get_metric_data(
        MetricDataQueries=asked, StartTime=start, EndTime=start + timedelta(hours=1)
    )
    found = {name: sum(values) for name, (_, values) in points([answer]).items()}
    assert len(found) == 4
    return found


def mean_ms(account, name, hours):
    found = totals(account, name, hours)
    seconds = found["volumetotalreadtime"] + found["volumetotalwritetime"]
    return 1000 * seconds / (found["volumereadops"] + found["volumewriteops"])


@pytest.mark.parametrize(
    ("name", "hours", "expected_ms"),
    [("orders-db", 3, 0.6), ("web", 3, 1.0), ("index", 3, 1.0), ("index", 12, 6.0), ("jenkins", 12, 6.0)],
)
def test_operations_take_what_their_type_does_and_longer_at_the_ceiling(account, name, hours, expected_ms):
    assert mean_ms(account, name, hours) == pytest.approx(expected_ms, rel=0.01)
