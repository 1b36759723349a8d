"""Small fleets with something to find in every place, for tests in which failures matter and not workloads."""

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime

from plimsoll.simulator.fleet import Fleet, SimulatedVolume
from plimsoll.simulator.organisation import organisation


def a_small_organisation(*, each: int = 2, places: int = 5) -> Fleet:
    """An organisation at the present time, with only so many volumes in each of so many accounts and regions."""
    whole = organisation(datetime.now(UTC).replace(microsecond=0))
    by_place: dict[tuple[str, str], list[SimulatedVolume]] = defaultdict(list)
    for volume in whole.volumes:
        by_place[volume.account, volume.region].append(volume)
    kept = [volume for volumes in list(by_place.values())[:places] for volume in volumes[:each]]
    return replace(whole, volumes=tuple(kept))
