"""The library of measured envelopes: those that ship, and those in the folders of users."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import chain
from pathlib import Path

from plimsoll.envelopes.campaigns import Campaign, System, load_campaign
from plimsoll.envelopes.fit import Caps, fit_envelope, no_caps
from plimsoll.model.envelope import Envelope
from plimsoll.model.errors import BadInput
from plimsoll.model.market import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedEnvelopes(Mapping[str, Envelope]):
    """The envelopes of systems by name, each fitted when it is first asked for.

    Who asks for those of one cloud needs no other cloud's published facts. Those `beside` come first.
    """

    systems: Mapping[str, System]
    types: Mapping[str, VolumeType]
    caps: Caps
    beside: Mapping[str, Envelope]
    _fitted: dict[str, Envelope] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Envelope:
        if name in self.beside:
            return self.beside[name]
        if name not in self._fitted:
            self._fitted[name] = fit_envelope(self.systems[name], self.types, self.caps)
        return self._fitted[name]

    def __iter__(self) -> Iterator[str]:
        return chain(self.beside, self.systems)

    def __len__(self) -> int:
        return len(self.beside) + len(self.systems)

    def __contains__(self, name: object) -> bool:
        return name in self.beside or name in self.systems


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeLibrary:
    """Every campaign, and the envelope of each of its systems by name."""

    campaigns: tuple[Campaign, ...]
    envelopes: Mapping[str, Envelope]

    def envelopes_of(self, provider: str) -> tuple[Envelope, ...]:
        """The envelopes of one provider: no other's is evidence for its volumes."""
        systems = (system for campaign in self.campaigns for system in campaign.systems)
        return tuple(self.envelopes[system.name] for system in systems if system.provider == provider)

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
    systems: dict[str, System] = {}
    earlier = {} if beside is None else beside.envelopes
    envelopes = FittedEnvelopes(systems=systems, types=types, caps=caps, beside=earlier)
    for path in sorted(path for folder in folders for path in folder.glob("*.yaml")):
        campaign = load_campaign(path, None if at is None else f"{at}/{path.name}")
        campaigns.append(campaign)
        for system in campaign.systems:
            if system.name in envelopes:
                raise BadInput(f"the campaign {path} names a system {system.name}, which another campaign has already.")
            systems[system.name] = system
    return EnvelopeLibrary(campaigns=tuple(campaigns), envelopes=envelopes)


def shipped_campaigns() -> Path:
    """The folder of campaigns that ship: inside the installed package, or benchmarks/measured of a checkout."""
    installed = Path(str(files("plimsoll.envelopes"))) / "measured"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "benchmarks" / "measured"
