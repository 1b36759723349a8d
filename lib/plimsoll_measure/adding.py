"""Campaigns that are added to the library of envelopes, each written whole or not at all."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

import yaml

from plimsoll.envelopes.campaigns import HostEntry, JobEntry, load_campaign
from plimsoll.envelopes.fit import fit_envelope
from plimsoll.envelopes.library import load_library, shipped_campaigns
from plimsoll.envelopes.printed import earliest_day, present
from plimsoll.files import atomic_path
from plimsoll.model.envelope import BoundBy, TimeSeries
from plimsoll.model.errors import BadInput
from plimsoll.model.market import VolumeType
from plimsoll.model.volume import VolumeSpec
from plimsoll_measure.readers.results import BenchResult, Profile

UNKNOWN_TYPE: Final = "unknown"
"""The volume type if the user names none. No offer has it, so its envelope is evidence for no offer."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_HEAD: Final = "# Figures as the tool printed them; conversions happen when they are read.\n"
_JOB: Final = tuple(JobEntry.model_fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResult:
    """A result, its known limit, and a note."""

    result: BenchResult
    bound_by: BoundBy = BoundBy.UNKNOWN
    note: str | None = None


def to_new_result(result: BenchResult) -> NewResult:
    """A new result with its limit: a result that was held to a rate is no maximum."""
    if not result.has_rate_cap:
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

    Raises BadInput and writes nothing if the name is no file name or is taken, if no result is a measurement, or if the
    figures make no campaign.
    """
    check_name(folder, new.name, types)
    try:
        if new.measured_on is not None:
            earliest_day(new.measured_on)
    except ValueError as error:
        raise BadInput(f"{error} (--measured-on).") from error
    faults = [new_result.result.fault for new_result in new.results if new_result.result.fault is not None]
    if faults and len(faults) == len(new.results):
        raise BadInput(f"{faults[0]}: that is no measurement, and nothing was added.")
    path = folder / f"{new.name}.yaml"
    with atomic_path(path) as beside:
        text = yaml.safe_dump(_as_data(new), sort_keys=False, allow_unicode=True, width=120)
        beside.write_text(_HEAD + text, encoding="utf-8")
        for system in load_campaign(beside).systems:
            fit_envelope(system, types)
    return path


def check_name(folder: Path, name: str, types: Mapping[str, VolumeType]) -> None:
    """Raises BadInput if a campaign cannot have that name: it is no file name, or is taken."""
    if _NAME.fullmatch(name) is None:
        raise BadInput(
            f"{name!r} is no name for a campaign: letters, digits, dots, dashes and underscores, at most 80, "
            "beginning with a letter or a digit (--as)."
        )
    library = load_library([shipped_campaigns(), folder], types)
    taken = {campaign.name for campaign in library.campaigns}
    if name in taken or (folder / f"{name}.yaml").exists():
        raise BadInput(f"there is a campaign {name} already: choose another name with --as.")
    if name in library.envelopes:
        raise BadInput(f"there is an envelope {name} already: choose another name with --as.")


def _as_data(new: NewCampaign) -> dict[str, Any]:
    """The campaign as its YAML file has it; facts that are not known are left out."""
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
            "measurements": [_measurement_data(new_result, new) for new_result in new.results],
            "profiles": _profiles(new) or None,
        }
    )


def _measurement_data(new_result: NewResult, new: NewCampaign) -> dict[str, Any]:
    """The measurement as a campaign's file has it; facts that all share stand once in the file's head."""
    result = new_result.result
    day = _day(result)
    run_figures = {
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
            "bound_by": None if new_result.bound_by is BoundBy.UNKNOWN else new_result.bound_by.value,
            "tool": None if result.tool == new.tool else result.tool,
            "job": present({name: getattr(result.job, name) for name in _JOB}),
            "note": new_result.note,
            "series": None if result.series is None else _series(result.series),
            "figures": {**result.printed.figures, **present(run_figures)},
        }
    )


def _series(series: TimeSeries) -> dict[str, Any]:
    """A series, to six digits."""
    sides = {"iops": series.iops, "throughput_mib_s": series.throughput_mib_s}
    printed = {name: " ".join(f"{rate:.6g}" for rate in rates) for name, rates in sides.items() if rates}
    return {"step_s": series.step_s, **printed}


def _day(result: BenchResult) -> str | None:
    """The day that a result prints."""
    day = None if result.measured_on is None else parse_finish_day(result.measured_on)
    return None if day is None else day.isoformat()


def parse_finish_day(printed: str) -> date | None:
    """The day of fio's `Fri May  7 04:25:07 2021`. None if the text has another form."""
    try:
        return datetime.strptime(printed.strip(), "%a %b %d %H:%M:%S %Y").date()  # noqa: DTZ007  # a day alone
    except ValueError:
        return None


def _day_of_all(new: NewCampaign) -> str | None:
    """The campaign's own date, else the day that all its results print. None if they print several or none."""
    days = {_day(new_result.result) for new_result in new.results}
    return new.measured_on or (days.pop() if len(days) == 1 else None)


def _profiles(new: NewCampaign) -> dict[str, Any]:
    """The profiles of a campaign's host, by its type; {} without any. Raises BadInput if no host is named."""
    if not new.profiles:
        return {}
    if new.host is None:
        raise BadInput("a host's profile needs the type of its host: add --host-type, such as r5.large.")
    return {
        new.host.type: {
            kind: present({"job": profile.job, **profile.figures}) for kind, profile in _number_profiles(new.profiles)
        }
    }


def _number_profiles(profiles: Sequence[Profile]) -> Iterator[tuple[str, Profile]]:
    """Profiles by kind. The second of a kind gets a number: cpu-2."""
    seen = Counter[str]()
    for profile in profiles:
        seen[profile.kind] += 1
        yield (profile.kind if seen[profile.kind] == 1 else f"{profile.kind}-{seen[profile.kind]}"), profile
