"""The table of all AWS scenes: those of the decision page, then our own."""

from typing import Final

from tests.scenes import (
    arrivals,
    changes,
    credits_and_types,
    decision_page,
    measured_hosts,
    sharing,
    templates,
    trends,
    weeks,
)

SCENES: Final = (
    *decision_page.SCENES,
    *credits_and_types.SCENES,
    *changes.SCENES,
    *arrivals.SCENES,
    *sharing.SCENES,
    *templates.SCENES,
    *weeks.SCENES,
    *trends.SCENES,
    *measured_hosts.SCENES,
)
