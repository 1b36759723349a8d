"""The library of measured envelopes: what ships, and what users add."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from plimsoll.domain.envelope import Envelope
from plimsoll.domain.errors import BadInput
from plimsoll.domain.volume_types import VolumeType
from plimsoll.envelopes.campaigns import Campaign, load_campaign
from plimsoll.envelopes.fit import Caps, fit, no_caps


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeLibrary:
    """Every campaign, and the envelope of each of its systems by name."""

    campaigns: tuple[Campaign, ...]
    envelopes: Mapping[str, Envelope]

    def get(self, name: str) -> Envelope:
        """The envelope of that name; BadInput, with the nearest, where there is none."""
        try:
            return self.envelopes[name]
        except KeyError:
            near = difflib.get_close_matches(name, self.envelopes, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else "see `plimsoll envelopes list`."
            raise BadInput(f"there is no envelope {name}: {hint}") from None

    def campaign_of(self, name: str) -> Campaign:
        """The campaign that an envelope is from."""
        return next(found for found in self.campaigns if any(system.name == name for system in found.systems))


def load_library(folders: Iterable[Path], types: Mapping[str, VolumeType], caps: Caps = no_caps) -> EnvelopeLibrary:
    """The library of all campaign files in the folders; BadInput for one that cannot be used or a name used twice.

    `types` are those that any cloud publishes, `caps` what hosts carry of them at most.
    """
    campaigns: list[Campaign] = []
    envelopes: dict[str, Envelope] = {}
    shipped = shipped_campaigns()
    for path in sorted(path for folder in folders for path in folder.glob("*.yaml")):
        campaign = _shipped(path) if path.parent == shipped else load_campaign(path)
        campaigns.append(campaign)
        for system in campaign.systems:
            if system.name in envelopes:
                raise BadInput(f"the campaign {path} names a system {system.name}, which another campaign has already.")
            envelopes[system.name] = fit(system, types, caps)
    return EnvelopeLibrary(campaigns=tuple(campaigns), envelopes=envelopes)


@cache
def _shipped(path: Path) -> Campaign:
    """A campaign that ships, which does not change while this runs; an audit wants the library two or three times."""
    return load_campaign(path)


def shipped_campaigns() -> Path:
    """The folder of campaigns that ship: inside the installed package, or benchmarks/measured of a checkout."""
    installed = Path(str(files("plimsoll.envelopes"))) / "measured"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "benchmarks" / "measured"
