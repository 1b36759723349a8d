"""The table of all AWS scenes: those of the decision page, then our own."""

from typing import Final

from tests.scenes import (
    arrivals,
    changes,
    credits_and_types,
    decision_page,
    held_back,
    host_limits,
    losses,
    measured_hosts,
    offers,
    relief_on_hosts,
    risk,
    sharing,
    takeovers,
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
    *takeovers.SCENES,
    *templates.SCENES,
    *weeks.SCENES,
    *trends.SCENES,
    *measured_hosts.SCENES,
    *losses.SCENES,
    *host_limits.SCENES,
    *relief_on_hosts.SCENES,
    *held_back.SCENES,
    *risk.SCENES,
    *offers.SCENES,
)
