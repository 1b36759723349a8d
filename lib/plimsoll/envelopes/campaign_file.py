"""The shape of a campaign file: what its author writes, checked before anything is computed from it.

Every scalar arrives as text, so that what is shown is what was printed, to the digit.
"""

from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.domain.envelope import BoundBy
from plimsoll.domain.errors import BadInput

Figures = dict[str, Any]
"""What the source printed, nested as it groups it; names carry units."""

_TEXT_ONLY: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Reads scalars as text and makes no objects; libyaml's where it is there."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class HostEntry(_Strict):
    """A host and its published ceiling: its baseline, and the maximum that a burst reaches."""

    type: str
    baseline_iops: float | None = None
    maximum_iops: float | None = None
    baseline_throughput_mb_s: float | None = None
    maximum_throughput_mb_s: float | None = None
    maximum_throughput_mib_s: float | None = None
    source: str | None = None


class JobEntry(_Strict):
    """What the benchmark was asked to do."""

    engine: str | None = None
    iodepth: int | None = None
    jobs: int | None = None
    runtime_s: float | None = None
    direct: bool | None = None
    file_size_gib: float | None = None


class SpecEntry(_Strict):
    """The volume spec. A figure is absent where the source leaves it out."""

    type: str
    size_gib: int = 0
    iops: int | None = None
    throughput_mib_s: int | None = None


class SystemEntry(_Strict):
    """One class of volume: what it was and, where it has its own, its host and published limits."""

    title: str
    spec: SpecEntry
    volumes: int = Field(default=1, ge=1)
    host: HostEntry | None = None
    published: Figures = Field(default_factory=dict)
    note: str | None = None


class PrintedEntry(_Strict):
    """The headline figures of one result, and everything else that was printed with them.

    `figures` are those of a single direction; or hold each direction's under `read` and `write`; or, where several jobs
    make one result, each job's directions under `parts` and the job's name.
    """

    iops: str | None = None
    throughput: str | None = None
    latency_bin: str | None = None
    figures: Figures = Field(default_factory=dict)


class MeasuredEntry(PrintedEntry):
    """One result of a system: its shape, what was printed, and its own job where it is not the campaign's."""

    system: str
    mode: str
    block_kib: float = Field(gt=0)
    bound_by: BoundBy = BoundBy.UNKNOWN
    rejected: Literal["iops", "throughput", "all"] | None = None
    tool: str | None = None
    job: JobEntry = Field(default_factory=JobEntry)
    note: str | None = None


class CampaignEntry(_Strict):
    """A whole campaign file. `measured_on` is a day, a month (2020-12) or a year, as in the source."""

    campaign: str
    title: str
    source: str
    tool: str
    tool_version: str | None = None
    measured_on: str | None = None
    provider: str
    account: str | None = None
    region: str | None = None
    host: HostEntry | None = None
    job: JobEntry = Field(default_factory=JobEntry)
    published: list[Figures] = Field(default_factory=list)
    systems: dict[str, SystemEntry]
    measurements: list[MeasuredEntry] = Field(min_length=1)
    profiles: dict[str, Figures] = Field(default_factory=dict)


def read_campaign_file(path: Path) -> CampaignEntry:
    """A campaign file as written; BadInput says what is wrong with it and where."""
    try:
        written = yaml.load(path.read_text(encoding="utf-8"), _TEXT_ONLY)  # noqa: S506  # text only, no objects
        found = CampaignEntry.model_validate(written)
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInput(f"the campaign {path} cannot be read: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "its top"
        raise BadInput(f"the campaign {path} is wrong at {where}: {first['msg'].lower()}.") from error
    unknown = {one.system for one in found.measurements} - set(found.systems)
    if unknown:
        raise BadInput(f"the campaign {path} measures {', '.join(sorted(unknown))}, which is not under systems.")
    return found
