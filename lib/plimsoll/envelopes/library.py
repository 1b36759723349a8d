"""The library of measured envelopes: those that ship, and those in the folders of users."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from plimsoll.envelopes.campaigns import Campaign, load_campaign
from plimsoll.envelopes.fit import Caps, fit_envelope, no_caps
from plimsoll.model.envelope import Envelope
from plimsoll.model.errors import BadInput
from plimsoll.model.market import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeLibrary:
    """Every campaign, and the envelope of each of its systems by name."""

    campaigns: tuple[Campaign, ...]
    envelopes: Mapping[str, Envelope]

    def get(self, name: str) -> Envelope:
        """The envelope of that name. Raises BadInput, with the nearest name, if there is none."""
        try:
            return self.envelopes[name]
        except KeyError:
            near = difflib.get_close_matches(name, self.envelopes, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else "see `plimsoll envelopes list`."
            raise BadInput(f"there is no envelope {name}: {hint}") from None

    def campaign_of(self, name: str) -> Campaign:
        """The campaign of an envelope's measurements."""
        return next(campaign for campaign in self.campaigns if any(system.name == name for system in campaign.systems))


def load_library(
    folders: Iterable[Path],
    types: Mapping[str, VolumeType],
    caps: Caps = no_caps,
    *,
    beside: EnvelopeLibrary | None = None,
    at: str | None = None,
) -> EnvelopeLibrary:
    """The library of all campaign files in the folders.

    `types` are the published volume types, `caps` the hosts' caps on them. The library `beside` is included.
    People open the folders at the address `at`. Raises BadInput if a file cannot be used or a name is used twice.
    """
    campaigns: list[Campaign] = [] if beside is None else [*beside.campaigns]
    envelopes: dict[str, Envelope] = {} if beside is None else {**beside.envelopes}
    for path in sorted(path for folder in folders for path in folder.glob("*.yaml")):
        campaign = load_campaign(path, None if at is None else f"{at}/{path.name}")
        campaigns.append(campaign)
        for system in campaign.systems:
            if system.name in envelopes:
                raise BadInput(f"the campaign {path} names a system {system.name}, which another campaign has already.")
            envelopes[system.name] = fit_envelope(system, types, caps)
    return EnvelopeLibrary(campaigns=tuple(campaigns), envelopes=envelopes)


def shipped_campaigns() -> Path:
    """The folder of campaigns that ship: inside the installed package, or benchmarks/measured of a checkout."""
    installed = Path(str(files("plimsoll.envelopes"))) / "measured"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "benchmarks" / "measured"
