"""How many calls of ListTimeSeries and datapoints simulated Google disks take, against reading every minute.

Calls are scarce there: a project has a quota of them, and none of datapoints.
"""

import sys
from datetime import UTC, datetime

from datapoints import assert_same_answers
from measured_audit import Row, audited

from cloud_simulator.running import running_google

DISKS = 600


def measure(disks: int = DISKS) -> list[Row]:
    """The rows of datapoints and of calls; the answers of both readings have to be the same."""
    with running_google(datetime.now(UTC), volumes=disks) as projects:
        part = audited(projects)
        whole = audited(projects, every_minute=True)
    assert_same_answers(part, whole)
    note = f"{len(part.recommendations):,} were answered, and the answers are the same"
    return [
        Row(
            what=f"datapoints of {disks:,} simulated Google disks, every minute against read",
            measured=f"{whole.usage.datapoints:,} : {part.usage.datapoints:,}",
            ratio=whole.usage.datapoints / part.usage.datapoints,
            note=note,
        ),
        Row(
            what=f"calls of ListTimeSeries of {disks:,} simulated Google disks, read against every minute",
            measured=f"{part.usage.calls:,} : {whole.usage.calls:,}",
            ratio=part.usage.calls / whole.usage.calls,
            note=f"{part.usage.metrics:,} series against {whole.usage.metrics:,}",
        ),
    ]


if __name__ == "__main__":
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else DISKS):
        sys.stdout.write(f"{row}\n")
