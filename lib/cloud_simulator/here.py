"""Here: what there is in one account and region, of the fleet and of what was made since."""

from dataclasses import dataclass

from cloud_simulator.fleet import Fleet, SimulatedHost, SimulatedVolume
from cloud_simulator.scratch import Scratch


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """One account in one region: the fleet's volumes there and, after them, the scratch volumes."""

    fleet: Fleet
    scratch: Scratch
    account: str
    region: str

    def volumes(self) -> list[SimulatedVolume]:
        """All volumes of the place."""
        return [*self.fleet.at(self.account, self.region), *self.scratch.at(self.account, self.region)]

    def hosts(self) -> dict[str, SimulatedHost]:
        """All instances of the place, by id."""
        return self.fleet.hosts(self.account, self.region)
