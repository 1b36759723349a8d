"""The table of all AWS scenes: those of the decision page, then our own."""

from typing import Final

from tests.scenes import (
    changes,
    credits_and_types,
    decision_page,
    host_limits,
    losses,
    measured_hosts,
    sharing,
    templates,
    weeks,
)

SCENES: Final = (
    *decision_page.SCENES,
    *credits_and_types.SCENES,
    *changes.SCENES,
    *sharing.SCENES,
    *templates.SCENES,
    *weeks.SCENES,
    *measured_hosts.SCENES,
    *host_limits.SCENES,
    *losses.SCENES,
)
