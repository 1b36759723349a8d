"""The library of measured envelopes: what ships, and what users add, each addition whole or not at all."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import yaml

from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence.envelope import BoundBy, Envelope
from plimsoll.domain.evidence.time_series import TimeSeries
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import VolumeType
from plimsoll.envelopes.campaigns import Campaign, HostEntry, JobEntry, load_campaign
from plimsoll.envelopes.fit import Caps, fit, no_caps
from plimsoll.envelopes.printed import day_finished, earliest_day, present
from plimsoll.envelopes.results import Profile, Result
from plimsoll.writing import whole

UNKNOWN_TYPE: Final = "unknown"
"""The type of a volume where the user names none. No offer has it, so its envelope is evidence for no offer."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_HEAD: Final = "# Figures as the tool printed them; conversions happen when they are read.\n"
_JOB: Final = tuple(JobEntry.model_fields)


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


def load_library(
    folders: Iterable[Path],
    types: Mapping[str, VolumeType],
    caps: Caps = no_caps,
    *,
    beside: EnvelopeLibrary | None = None,
    at: str | None = None,
) -> EnvelopeLibrary:
    """The library of all campaign files in the folders; BadInput for one that cannot be used or a name used twice.

    `types` are those that any cloud publishes, `caps` what hosts carry of them at most. What is `beside` is in it too.
    `at` is where people open the folders.
    """
    campaigns: list[Campaign] = [] if beside is None else [*beside.campaigns]
    envelopes: dict[str, Envelope] = {} if beside is None else {**beside.envelopes}
    for path in sorted(path for folder in folders for path in folder.glob("*.yaml")):
        campaign = load_campaign(path, None if at is None else f"{at}/{path.name}")
        campaigns.append(campaign)
        for system in campaign.systems:
            if system.name in envelopes:
                raise BadInput(f"the campaign {path} names a system {system.name}, which another campaign has already.")
            envelopes[system.name] = fit(system, types, caps)
    return EnvelopeLibrary(campaigns=tuple(campaigns), envelopes=envelopes)


def shipped_campaigns() -> Path:
    """The folder of campaigns that ship: inside the installed package, or benchmarks/measured of a checkout."""
    installed = Path(str(files("plimsoll.envelopes"))) / "measured"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "benchmarks" / "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResult:
    """A result, what limited it as far as is known, and a note."""

    result: Result
    bound_by: BoundBy = BoundBy.UNKNOWN
    note: str | None = None


def as_measured(result: Result) -> NewResult:
    """The result with what limited it: a result that was held to a rate is no maximum."""
    if not result.rate_capped:
        return NewResult(result=result)
    return NewResult(result=result, bound_by=BoundBy.LOAD, note="held to a rate: no worse than this, and no maximum")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCampaign:
    """A campaign of one system, which has its name.

    `account` and `region` say where it was measured, and give it grade A. They are set for Plimsoll's own measurements,
    and where the user vouches for them. `measured_on` is an ISO day, month or year. None: each result has its own date.
    `imported_on` is the day on which a user adds it. `cited` is what people call it, if not its day and title.
    A `spec` of type `unknown` is evidence for no offer.
    """

    name: str
    title: str
    source: str
    measured_on: str | None
    provider: str
    spec: VolumeSpec
    tool: str = "fio"
    tool_version: str | None = None
    results: tuple[NewResult, ...] = ()
    account: str | None = None
    region: str | None = None
    host: HostEntry | None = None
    volumes: int = 1
    note: str | None = None
    profiles: tuple[Profile, ...] = ()
    placed: bool = False
    imported_on: date | None = None
    cited: str | None = None


def add_campaign(folder: Path, new: NewCampaign, types: Mapping[str, VolumeType]) -> Path:
    """Writes the campaign's file and returns its path, after reading it back and fitting its envelope.

    Raises BadInput and writes nothing where the name is no file name or is taken, where no result is a measurement, and
    where the figures make no campaign.
    """
    check_name(folder, new.name, types)
    try:
        if new.measured_on is not None:
            earliest_day(new.measured_on)
    except ValueError as error:
        raise BadInput(f"{error} (--measured-on).") from error
    faults = [one.result.fault for one in new.results if one.result.fault is not None]
    if faults and len(faults) == len(new.results):
        raise BadInput(f"{faults[0]}: that is no measurement, and nothing was added.")
    path = folder / f"{new.name}.yaml"
    with whole(path) as beside:
        text = yaml.safe_dump(_as_data(new), sort_keys=False, allow_unicode=True, width=120)
        beside.write_text(_HEAD + text, encoding="utf-8")
        for system in load_campaign(beside).systems:
            fit(system, types)
    return path


def check_name(folder: Path, name: str, types: Mapping[str, VolumeType]) -> None:
    """BadInput where a campaign and its system cannot have that name: it is no file name, or is taken."""
    if _NAME.fullmatch(name) is None:
        raise BadInput(
            f"{name!r} is no name for a campaign: letters, digits, dots, dashes and underscores, at most 80, "
            "beginning with a letter or a digit (--as)."
        )
    library = load_library([shipped_campaigns(), folder], types)
    taken = {one.name for one in library.campaigns}
    if name in taken or (folder / f"{name}.yaml").exists():
        raise BadInput(f"there is a campaign {name} already: choose another name with --as.")
    if name in library.envelopes:
        raise BadInput(f"there is an envelope {name} already: choose another name with --as.")


def _as_data(new: NewCampaign) -> dict[str, Any]:
    spec = {"type": new.spec.type, "size_gib": new.spec.size_gib or None}
    bought = {**spec, "iops": new.spec.iops, "throughput_mib_s": new.spec.throughput_mib_s}
    return present(
        {
            "campaign": new.name,
            "title": new.title,
            "source": new.source,
            "tool": new.tool,
            "tool_version": new.tool_version,
            "measured_on": _day_of_all(new),
            "cited": new.cited,
            "imported_on": None if new.imported_on is None else new.imported_on.isoformat(),
            "provider": new.provider,
            "account": new.account,
            "region": new.region,
            "placed": new.placed or None,
            "host": None if new.host is None else new.host.model_dump(exclude_none=True),
            "systems": {
                new.name: present(
                    {"title": new.title, "spec": present(bought), "volumes": new.volumes, "note": new.note}
                ),
            },
            "measurements": [_measured(one, new) for one in new.results],
            "profiles": _profiles(new) or None,
        }
    )


def _measured(one: NewResult, new: NewCampaign) -> dict[str, Any]:
    result = one.result
    day = _day(result)
    own = {
        "date": None if new.measured_on or day == _day_of_all(new) else day,
        "printed_on": day if new.measured_on else None,
        "fio": None if result.tool_version == new.tool_version else result.tool_version,
    }
    return present(
        {
            "system": new.name,
            "mode": result.job.mode,
            "block_kib": result.job.block_kib,
            "iops": result.printed.iops,
            "throughput": result.printed.throughput,
            "bound_by": None if one.bound_by is BoundBy.UNKNOWN else one.bound_by.value,
            "tool": None if result.tool == new.tool else result.tool,
            "job": present({name: getattr(result.job, name) for name in _JOB}),
            "note": one.note,
            "series": None if result.series is None else _series(result.series),
            "figures": {**result.printed.figures, **present(own)},
        }
    )


def _series(found: TimeSeries) -> dict[str, Any]:
    """A series, to six digits."""
    sides = {"iops": found.iops, "throughput_mib_s": found.throughput_mib_s}
    told = {name: " ".join(f"{rate:.6g}" for rate in rates) for name, rates in sides.items() if rates}
    return {"step_s": found.step_s, **told}


def _day(result: Result) -> str | None:
    """The day that a result prints."""
    day = None if result.measured_on is None else day_finished(result.measured_on)
    return None if day is None else day.isoformat()


def _day_of_all(new: NewCampaign) -> str | None:
    """The campaign's own date, else the day that all its results print; None where they print several, or none."""
    days = {_day(one.result) for one in new.results}
    return new.measured_on or (days.pop() if len(days) == 1 else None)


def _profiles(new: NewCampaign) -> dict[str, Any]:
    if not new.profiles:
        return {}
    if new.host is None:
        raise BadInput("a profile is of a host, and none is named: say which with --host-type, such as r5.large.")
    return {new.host.type: {kind: present({"job": one.job, **one.figures}) for kind, one in _numbered(new.profiles)}}


def _numbered(profiles: Sequence[Profile]) -> Iterator[tuple[str, Profile]]:
    """Profiles by kind; the second of one kind is cpu-2."""
    seen = Counter[str]()
    for one in profiles:
        seen[one.kind] += 1
        yield (one.kind if seen[one.kind] == 1 else f"{one.kind}-{seen[one.kind]}"), one
