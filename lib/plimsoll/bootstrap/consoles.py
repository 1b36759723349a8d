"""Links to a volume's metrics in its cloud's own console."""

from datetime import datetime

from plimsoll.clouds.cloud import published_facts
from plimsoll.clouds.registry import CLOUDS
from plimsoll.model.policy import Policy
from plimsoll.reading.window import Window
from plimsoll.reports.record import RecommendationRecord


def console_link(volume: RecommendationRecord, policy: Policy, now: datetime) -> str:
    """A link to the volume's demand over the policy's window in its cloud's own console.

    Empty for a cloud that is not in the registry: a record may be from another version.
    """
    cloud = CLOUDS.get(volume.provider)
    if cloud is None:
        return ""
    window = Window.before(now, days=policy.lookback_days)
    return published_facts(cloud).console_link(volume, window, policy.resolution_s)
