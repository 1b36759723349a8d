"""Settings: how Plimsoll runs on this machine, from PLIMSOLL_* environment variables. What is decided is the policy."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from plimsoll.model.errors import BadInput

PREFIX: Final = "PLIMSOLL_"
"""What the environment variable of a setting begins with; its name in capitals follows."""

_TAG: Final = re.compile(r"(?!aws:|plimsoll[:-])([\w .:/+@-]{1,128})=([\w .:/+@=-]{0,256})", re.IGNORECASE)
"""A tag as AWS takes it of most services; tags of AWS and of Plimsoll itself are given by nobody else."""

_MOST_TAGS: Final = 40
"""AWS takes 50 tags of a resource; Plimsoll and CloudFormation add their own."""


def parse_tags(text: str) -> dict[str, str]:
    """The tags in KEY=VALUE,KEY=VALUE. Raises BadInput if one cannot be used."""
    tags: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _TAG.fullmatch(part)
        if match is None or match[1].strip() in {"", *tags}:
            raise BadInput(
                f"the tag {part!r} cannot be used: write KEY=VALUE once for each key, with commas between, such as "
                "team=storage,cost-center=42. A key begins with neither aws: nor plimsoll:."
            )
        tags[match[1].strip()] = match[2].strip()
    if len(tags) > _MOST_TAGS:
        raise BadInput(f"{len(tags)} tags are too many: give at most {_MOST_TAGS}.")
    return tags


def format_tags(tags: Mapping[str, str]) -> str:
    """The text that `parse_tags` reads."""
    return ",".join(f"{key}={value}" for key, value in tags.items())


def _read_tags(value: Any) -> Any:
    """The tags of a text, or the value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return parse_tags(value)
    except BadInput as error:
        raise ValueError(str(error).rstrip(".")) from error


Tags = Annotated[Mapping[str, str], BeforeValidator(_read_tags)]
"""Tags as KEY=VALUE,KEY=VALUE."""


class Settings(BaseModel):
    """The settings: where runs are kept, and how hard and at what price a cloud is asked."""

    model_config = ConfigDict(extra="forbid", defer_build=True, frozen=True)

    runs_dir: Path = Field(
        default=Path("plimsoll-runs"), description="The folder of runs and of the ledger of changes."
    )
    campaigns_dir: Path | None = Field(
        default=None, description="The folder of campaigns measured here. Default: `measured` in the folder of runs."
    )
    benchmark_runtime_s: int = Field(
        default=180, ge=1, le=86_400, description="Seconds that each job of a benchmark is measured (AWS measures 180)."
    )
    bucket: str | None = Field(
        default=None, description="The deployed service's bucket: campaigns are cited by their place in it."
    )
    results_bucket: str | None = Field(
        default=None,
        description="S3 bucket for what benchmarks print beyond 24,000 characters; instances must be able to write it.",
    )
    tags: Tags = Field(
        default_factory=dict,
        description="Tags of all that is made (scratch volumes, documents; labels on Google Cloud), as "
        "KEY=VALUE,KEY=VALUE.",
    )
    benchmark_ramp_s: int = Field(
        default=10, ge=0, le=3600, description="Seconds that each job of a benchmark runs before it is measured."
    )
    in_place_file_mib: int = Field(
        default=2048, ge=16, le=102_400, description="Size in MiB of the file that a volume in use is measured with."
    )
    calls_per_s: float = Field(
        default=500.0,
        gt=0,
        description="GetMetricData calls a second (AWS's default quota is 500, older accounts have 50).",
    )
    datapoints_per_s: float = Field(
        default=396_000.0,
        gt=0,
        description="GetMetricData datapoints a second (AWS's quota is 396,000, formerly 90,000).",
    )
    parallel_calls: int = Field(default=16, ge=1, le=64, description="GetMetricData calls under way at once.")
    processes: int | None = Field(
        default=None,
        ge=0,
        le=256,
        description="Processes that decide on volumes beside the one that reads metrics, in audits of 1,000 and more. "
        "Default: one a processor; fewer than two are none.",
    )
    max_attempts: int = Field(default=8, ge=1, le=20, description="Attempts of one call, retries included.")
    connect_timeout_s: float = Field(default=5.0, gt=0, le=600, description="Seconds that a connection may take.")
    silence_timeout_s: float = Field(
        default=20.0, gt=0, le=600, description="Seconds without a byte after which an answer is given up."
    )
    answer_timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="Seconds that one answer may take, from the call to its last byte."
    )
    decider_timeout_s: float = Field(
        default=300.0,
        gt=0,
        le=7200,
        description="Seconds after which a process that decides is ended as stuck; its volumes are decided elsewhere.",
    )
    list_deadline_s: float = Field(
        default=300.0, gt=0, le=7200, description="Seconds that listing the volumes and hosts of one place may take."
    )
    read_deadline_s: float = Field(
        default=900.0, gt=0, le=7200, description="Seconds that reading the metrics of one batch of volumes may take."
    )
    denied_places_expected: bool = Field(
        default=False,
        description="Expect an organization's policy to deny places: they get a notice, and do not make a run partial.",
    )
    metric_calls_a_run: int = Field(
        default=5_000_000, ge=1, description="Calls for metrics after which a run reads no more, retries included."
    )
    poll_s: float = Field(default=5.0, gt=0, le=60, description="Seconds between looks at what a cloud is doing.")
    setting_up_s: float = Field(
        default=600.0, ge=10, le=7200, description="Seconds that a host may take to install fio and find the volume."
    )
    command_grace_s: float = Field(
        default=300.0, ge=1, le=7200, description="Seconds past its limit after which a command is given up."
    )
    volume_wait_s: float = Field(
        default=180.0, ge=1, le=3600, description="Seconds that attaching or detaching a scratch volume may take."
    )
    usd_per_1000_metrics: float = Field(
        default=0.01, ge=0, description="Price of 1,000 metrics asked with GetMetricData (us-east-1 list price)."
    )
    google_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/]+$",
        description="Where Google Cloud's REST APIs are, if simulated; needs google_monitoring.",
    )
    google_monitoring: str | None = Field(
        default=None, pattern=r"^[^/]+:[0-9]+$", description="HOST:PORT of a simulated Cloud Monitoring (gRPC)."
    )
    google_calls_per_s: float = Field(
        default=50.0,
        gt=0,
        description="ListTimeSeries calls a second (Google publishes no default quota: the console shows a project's).",
    )
    google_usd_per_1000_series: float = Field(
        default=0.0005, ge=0, description="Price of 1,000 series that Cloud Monitoring returns (list price)."
    )
    slack_api_url: str = Field(
        default="https://slack.com/api/", pattern=r"^https?://.+/$", description="Where Slack's Web API is."
    )
    usd_hour_waited: float = Field(
        default=100.0,
        ge=0,
        description="The worth of an audit's hour, USD: a higher one reads fewer datapoints in more metrics.",
    )

    learned_table: Path | None = Field(
        default=None,
        description="A table that `plimsoll learn` wrote of your fleet. Default: `learned.json` in the folder of "
        "runs; "
        "without that, what public fleets showed.",
    )

    @classmethod
    def from_environment(cls) -> "Settings":
        """The settings that the environment gives; BadInput names the variable that cannot be used, and why."""
        try:
            return cls()
        except ValidationError as error:
            first = error.errors()[0]
            variable, reason = PREFIX + str(first["loc"][0]).upper(), first["msg"].lower()
            raise BadInput(f"the environment variable {variable} is {first['input']!r}: {reason}.") from error

    @property
    def deciders(self) -> int:
        """The number of processes that decide; one alone is never started."""
        if self.processes is not None:
            return self.processes
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    @property
    def measured_dir(self) -> Path:
        """The folder in which campaigns measured here are kept."""
        return self.campaigns_dir or self.runs_dir / "measured"

    @property
    def measured_at(self) -> str | None:
        """The address at which people open those campaigns, if not that folder."""
        return f"s3://{self.bucket}/measured" if self.bucket else None

    @model_validator(mode="before")
    @classmethod
    def _from_environment(cls, chosen: dict[str, Any]) -> dict[str, Any]:
        """The given values, over the values of the environment."""
        values = {}
        for name in cls.model_fields:
            variable = PREFIX + name.upper()
            earlier = variable.replace("_GOOGLE_", "_GCP_")  # the name in earlier versions
            value = os.environ.get(variable, os.environ.get(earlier))
            if value is not None:
                values[name] = value
        return values | chosen
