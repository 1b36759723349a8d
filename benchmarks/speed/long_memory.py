"""What it takes to ask the time before the window of the demo's organization, beside the window alone."""

import sys
from datetime import UTC, datetime

from measured_audit import Audited, Row, audited

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.running import running
from plimsoll.model.policy import Policy

TARGET = 1.5
WINDOW_ALONE = Policy(memory_days=0)


def row(window: Audited, memory: Audited) -> Row:
    """The datapoints of an audit that remembers all that is kept, against one that knows the window alone."""
    asked = sum(one.memory is not None for one in memory.recommendations.values())
    others = sum(one.memory is not None and one.memory.event is not None for one in memory.recommendations.values())
    return Row(
        what="datapoints of the demo's organization with what was before the window, against the window alone",
        measured=f"{memory.usage.datapoints:,} : {window.usage.datapoints:,}",
        ratio=memory.usage.datapoints / window.usage.datapoints,
        target=TARGET,
        note=f"{memory.usage.calls:,} calls against {window.usage.calls:,}; asked of {asked:,} of "
        f"{len(memory.recommendations):,} volumes, and spoke against {others:,} reductions",
    )


if __name__ == "__main__":
    with running(datetime.now(UTC), volumes=DEMO_VOLUMES) as organization:
        found = row(audited(organization, policy=WINDOW_ALONE), audited(organization))
    sys.stdout.write(f"{found.what}: {found.measured} = {found.ratio:.2f} ({found.note})\n")
