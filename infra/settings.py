"""Settings: what is deployed and what it is to do, from PLIMSOLL_DEPLOY_* variables and CDK's context, which wins."""

import difflib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from aws_cdk.region_info import RegionInfo
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from infra.packaging import RUNTIME
from infra.packaging.contents import handlers
from infra.schedule_syntax import past_error, schedule_error, zone_error
from infra.settings_text import is_cdks, nest, parse_values, sentences, with_policy
from plimsoll.model.errors import BadInput
from plimsoll.settings import Settings, Tags, format_tags
from plimsoll_service.config import ServiceConfig

PREFIX: Final = "PLIMSOLL_DEPLOY_"
"""The beginning of a setting's environment variable; its name in capitals follows, `__` before a key within it."""

_LOGS_DAYS: Final = "1 3 5 7 14 30 60 90 120 150 180 365 400 545 731 1096 1827 2192 2557 2922 3288 3653"
RETENTIONS_DAYS: Final = tuple(int(days) for days in _LOGS_DAYS.split())
"""The days that CloudWatch can keep logs (PutRetentionPolicy). Keeping them without a limit is not offered."""

CALLED_AT_ONCE: Final = ("take_inventory", "audit_batch", "note_failure", "combine", "sweep")
"""The functions that the items of maps call, max_concurrency at once."""

_MOST_TAG_BYTES: Final = 2048
"""Half of what all variables of a function may have (AWS Lambda Developer Guide, "Lambda quotas", read 2026-11-22)."""

_T = TypeVar("_T")

PolicyName = Annotated[str | None, Field(pattern=r"^[\w+=,.@/-]+$", max_length=512)]

WatchedText = Annotated[str, StringConstraints(pattern=r"^vol-[0-9a-f]{8,17}:[1-9]\d*:[1-9]\d*$")]
"""A volume with the IOPS and MiB/s that it carries."""


def _default(name: str) -> Any:
    """The default of the command line, so that both audit alike."""
    return Settings.model_fields[name].default


class Network(BaseModel):
    """The VPC of the functions. They need a way out of it: to other regions, prices, an Organization and Slack."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subnet_ids: tuple[Annotated[str, StringConstraints(pattern=r"^subnet-[0-9a-f]{8,17}$")], ...] = Field(
        min_length=1, max_length=16, description="The private subnets that the functions run in."
    )
    security_group_ids: tuple[Annotated[str, StringConstraints(pattern=r"^sg-[0-9a-f]{8,17}$")], ...] = Field(
        min_length=1, max_length=5, description="Their security groups, which let HTTPS out."
    )
    vpc_id: str | None = Field(
        default=None,
        pattern=r"^vpc-[0-9a-f]{8,17}$",
        description="Make endpoints in this VPC, their own, of what the functions ask in the region deployed in.",
    )
    route_table_ids: tuple[Annotated[str, StringConstraints(pattern=r"^rtb-[0-9a-f]{8,17}$")], ...] = Field(
        default=(), description="The subnets' route tables, for the endpoints of S3 and DynamoDB."
    )

    @model_validator(mode="after")
    def _has_routes(self) -> "Network":
        if (self.vpc_id is None) != (not self.route_table_ids):
            raise ValueError("give network.vpc_id and network.route_table_ids together, for endpoints, or neither.")
        return self


class Deployment(ServiceConfig, BaseSettings):
    """The settings of a deployment, and the configuration of the service, which its functions read."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", enable_decoding=False, extra="forbid", frozen=True
    )

    stage: str = Field(
        default="main",
        pattern=r"^[a-z][a-z0-9-]{0,19}$",
        description="Which of several deployments in an account: part of every name.",
    )
    schedule: str = Field(
        default="cron(0 6 ? * MON *)", description="When an audit begins: rate(...), cron(...) or at(...)."
    )
    time_zone: str = Field(default="UTC", description="The time zone of the schedule, of the IANA database.")
    policy_file: Path | None = Field(default=None, description="The policy file. Default: the policy's own defaults.")
    with_validation: bool = Field(
        default=True, description="Deploy what measures: the validation's functions, state machine and sweep."
    )
    with_probe: bool = Field(
        default=False,
        description="Deploy what reads hosts once a second: the probe's functions and state machine, and the templates "
        "of its document and role.",
    )
    with_changes: bool = Field(
        default=False,
        description="Deploy what carries changes out: its functions and state machine, its bucket of plans and "
        "ledgers, and the templates of its two roles. Without it no role can modify a volume.",
    )
    facts_locked_days: int | None = Field(
        default=None,
        ge=1,
        le=36_500,
        description="Days for which S3 Object Lock keeps every fact of a change from being deleted, by anybody. "
        "Default: no lock.",
    )
    locked_document: bool = Field(
        default=False,
        description="Let no role write the document that measures: it is then deployed as a template of its own, "
        "benchmark-document.",
    )
    sweep_every: str = Field(
        default="rate(1 hour)",
        description="When scratch volumes past their deadline are deleted, as a schedule; less often than hourly, "
        "nobody is told of too many that are alive.",
    )
    sweep_all_every: str = Field(
        default="rate(7 days)",
        description="When every account is swept, also where no scratch volume is known to be, as a schedule.",
    )
    max_concurrency: int = Field(
        default=10, ge=1, le=1000, description="Accounts or lots of batches under way at once, a function each."
    )
    calls_per_s: float = Field(
        default=_default("calls_per_s"),
        gt=0,
        description="GetMetricData calls a second of an account and region (its quota; older accounts have 50), "
        "shared by the functions that read there at once.",
    )
    datapoints_per_s: float = Field(
        default=_default("datapoints_per_s"),
        gt=0,
        description="GetMetricData datapoints a second of an account and region, shared as well.",
    )
    google_calls_per_s: float = Field(
        default=_default("google_calls_per_s"),
        gt=0,
        description="ListTimeSeries calls a second of a Google Cloud project, shared as well.",
    )
    usd_hour_waited: float = Field(
        default=_default("usd_hour_waited"),
        ge=0,
        description="The worth of an audit's hour, USD: a higher one reads fewer datapoints in more metrics.",
    )
    denied_places_expected: bool = Field(
        default=_default("denied_places_expected"),
        description="Places that an organization's policy denies to read are a notice, and leave a run complete.",
    )
    audit_memory_mib: int = Field(default=2048, ge=512, le=10_240, description="Memory of the function that audits.")
    report_memory_mib: int = Field(
        default=3072, ge=512, le=10_240, description="Memory of the functions that combine and report."
    )
    audit_timeout_s: int = Field(default=900, ge=60, le=900, description="Seconds that each of the two may take.")
    work_days: int = Field(default=30, ge=1, le=365, description="Days that the parts of a run in work are kept.")
    runs_days: int = Field(
        default=1095, ge=30, le=3650, description="Days that results (Parquet) and reports are kept."
    )
    logs_days: int = Field(default=90, description="Days that logs are kept, of those that CloudWatch knows.")
    kms_key_arn: str | None = Field(
        default=None,
        pattern=r"^arn:aws[\w-]*:kms:[a-z0-9-]+:\d{12}:key/(mrk-[0-9a-f]{32}|[0-9a-f-]{36})$",
        description="The KMS key of all that is kept: bucket, tables, queues, logs, events, executions, schedules, "
        "variables and code. Default: keys that AWS owns.",
    )
    permissions_boundary: PolicyName = Field(
        default=None, description="The name of the policy that bounds every role of the service itself."
    )
    member_permissions_boundary: PolicyName = Field(
        default=None, description="The name of the policy, of each member account, that bounds the roles there."
    )
    tags: Tags = Field(
        default_factory=dict,
        description="Tags of all that is deployed and of all that the service makes, as KEY=VALUE,KEY=VALUE.",
    )
    network: Network | None = Field(default=None, description="The VPC of the functions. Default: none.")
    reserved_concurrency: dict[str, Annotated[int, Field(ge=1, le=1000)]] = Field(
        default_factory=dict,
        description='Functions at once that are set apart, by name, as JSON such as {"audit_batch": 20, "*": 10}; * is '
        "for all others.",
    )
    code_signing_config_arn: str | None = Field(
        default=None,
        pattern=r"^arn:aws[\w-]*:lambda:[a-z0-9-]+:\d{12}:code-signing-config:csc-[a-z0-9]{17}$",
        description="The code signing configuration of the functions.",
    )
    signed_code: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w!.*'()-]+)*$",
        description="Where the signed zips of the functions are, as BUCKET/PREFIX, under their names in `build`. "
        "Default: those built here are uploaded.",
    )
    alarm_email: str | None = Field(
        default=None, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", description="Who is told of alarms, by e-mail."
    )
    alarm_topic_arn: str | None = Field(
        default=None,
        pattern=r"^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+$",
        description="The SNS topic that is told of alarms, in place of one of its own.",
    )
    alarm_volumes: tuple[WatchedText, ...] = Field(
        default=(),
        max_length=100,
        description="Volumes of the account and region deployed in that have alarms, as ID:IOPS:MIB_S with what each "
        "carries.",
    )
    alarm_volume_share_pct: float = Field(
        default=90.0, gt=0, le=100, description="The share of a volume's ceiling from which its demand is an alarm."
    )
    audit_usd: float | None = Field(
        default=None,
        gt=0,
        description="USD of an audit's metric calls from which there is an alarm. Default: twice what its plan "
        "expected of its volumes, and one USD.",
    )
    audit_due_h: float = Field(
        default=192.0,
        ge=1,
        description="Hours after which there is an alarm if no audit has ended; more than from one to the next.",
    )
    slack_at_once: int = Field(
        default=10,
        ge=0,
        le=100,
        description="Requests of Slack that are answered at once; 0 sets no bound, for an account that has no room.",
    )
    slack_door: Literal["function-url", "rest-api"] = Field(
        default="function-url",
        description="What Slack calls: the function's own address, or a REST API before it, which can have a web ACL.",
    )
    slack_web_acl_arn: str | None = Field(
        default=None,
        pattern=r"^arn:aws[\w-]*:wafv2:[a-z0-9-]+:\d{12}:regional/webacl/[\w-]+/[0-9a-f-]{36}$",
        description="The regional web ACL of AWS WAF before the REST API that Slack calls.",
    )
    architecture: Literal["arm64", "x86_64"] = Field(default="arm64", description="The processor of the functions.")
    wheels_python: str = Field(
        default=RUNTIME,
        pattern=r"^3\.\d{2}$",
        description="The Python that the functions' code is built for: the runtime's; an emulator may have another.",
    )
    assets: Literal["built", "empty"] = Field(
        default="built", description="The functions' code; `empty` where only the templates are looked at."
    )

    @classmethod
    def read(cls, context: Mapping[str, Any]) -> "Deployment":
        """The settings of CDK's context and the environment. BadInput names each that cannot be used."""
        settings = nest({key: value for key, value in context.items() if not is_cdks(key)})
        named = [name.removeprefix(PREFIX).lower() for name in os.environ if name.startswith(PREFIX)]
        unknown = [_unknown(name) for name in (*settings, *named) if name.partition("__")[0] not in cls.model_fields]
        if unknown:
            raise BadInput("\n".join(unknown))
        try:
            return cls(**settings)
        except ValidationError as error:
            raise BadInput(sentences(error.errors())) from error

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings calls it by name
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The context wins over the environment."""
        return init_settings, env_settings

    @property
    def written_role_path(self) -> str | None:
        """The path of roles in templates. None for the root: to write it would replace roles that were made without."""
        return None if self.role_path == "/" else self.role_path

    @property
    def config(self) -> ServiceConfig:
        """The configuration of the service alone."""
        return ServiceConfig(**{key: getattr(self, key) for key in ServiceConfig.model_fields})

    def reserved_for(self, function: str, at_once: int | None) -> int | None:
        """The concurrency that is set apart for a function; `at_once` if the settings say nothing of it."""
        return self.reserved_concurrency.get(function, at_once or self.reserved_concurrency.get("*"))

    @model_validator(mode="before")
    @classmethod
    def _parse_texts(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Lists as words with commas between them, and mappings as JSON: what a variable or `-c key=value` can hold."""
        return with_policy(parse_values(cls, values))

    @field_validator("schedule", "sweep_every", "sweep_all_every")
    @classmethod
    def _is_a_schedule(cls, text: str) -> str:
        return _check(text, schedule_error(text))

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        return _check(name, zone_error(name))

    @field_validator("regions")
    @classmethod
    def _are_regions(cls, regions: tuple[str, ...]) -> tuple[str, ...]:
        known = sorted(region.name for region in RegionInfo.regions)
        for region in regions:
            if region not in known:
                near = difflib.get_close_matches(region, known, n=2)
                hint = f"did you mean {' or '.join(near)}?" if near else f"write names such as {known[0]}."
                raise ValueError(f"there is no AWS region {region}: {hint}")
        return regions

    @field_validator("reserved_concurrency")
    @classmethod
    def _are_functions(cls, reserved: dict[str, int]) -> dict[str, int]:
        for name in reserved:
            if name != "*" and name not in handlers():
                near = difflib.get_close_matches(name, handlers(), n=1)
                raise ValueError(f"there is no function {name}: write {near[0] if near else ', '.join(handlers())}.")
        return reserved

    @field_validator("tags")
    @classmethod
    def _fit_into_variables(cls, tags: Mapping[str, str]) -> Mapping[str, str]:
        length = len(format_tags(tags).encode())
        wrong = f"tags have {length:,} bytes, and a function's variables have room for {_MOST_TAG_BYTES:,} of them."
        return _check(tags, wrong if length > _MOST_TAG_BYTES else None)

    @field_validator("logs_days")
    @classmethod
    def _can_be_kept(cls, days: int) -> int:
        longer = [known for known in RETENTIONS_DAYS if known >= days]
        wrong = f"CloudWatch cannot keep logs for {days} days: write {(longer or RETENTIONS_DAYS[-1:])[0]}."
        return _check(days, None if days in RETENTIONS_DAYS else wrong)

    @model_validator(mode="after")
    def _can_be_approved(self) -> "Deployment":
        if self.with_changes and not self.change_rules.get("approvers"):
            raise ValueError(
                "change_rules names no approvers, so that nobody could approve a plan: name them, as in "
                f'{PREFIX}CHANGE_RULES=\'{{"approvers": ["ada", "grace"]}}\''
            )
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> "Deployment":
        if (self.organization or self.organizational_units or self.accounts) and self.external_id is None:
            raise ValueError(
                "external_id is missing: the roles of member accounts ask for one. Choose a text of your own, such as "
                f"{PREFIX}EXTERNAL_ID=$(uuidgen), and give it to the member roles as well."
            )
        if self.audits_google and self.google_credentials is None:
            raise ValueError(
                "google_credentials is missing: Google has to know the functions' roles. infra/google.md says how "
                "a workload identity pool is made; give its configuration, as in "
                f'{PREFIX}GOOGLE_CREDENTIALS="$(cat google.json)"'
            )
        for schedule in (self.schedule, self.sweep_every, self.sweep_all_every):
            wrong = past_error(schedule, self.time_zone, datetime.now(UTC))
            if wrong is not None:
                raise ValueError(wrong)
        for name in CALLED_AT_ONCE:
            reserved = self.reserved_for(name, None)
            if reserved is not None and reserved < self.max_concurrency:
                raise ValueError(
                    f"reserved_concurrency has {reserved} for {name}, of which max_concurrency calls "
                    f"{self.max_concurrency} at once: reserve as many, or lower max_concurrency."
                )
        if self.alarm_email and self.alarm_topic_arn:
            raise ValueError("give alarm_email or alarm_topic_arn, not both: subscribe the address to the topic.")
        if self.slack_web_acl_arn and self.slack_door != "rest-api":
            raise ValueError("slack_web_acl_arn needs slack_door=rest-api: AWS WAF stands before no function URL.")
        try:
            self.config.to_text()
        except BadInput as error:
            raise ValueError(str(error)) from error
        return self


def _unknown(name: str) -> str:
    near: Sequence[str] = difflib.get_close_matches(name, Deployment.model_fields, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(sorted(Deployment.model_fields))}."
    return f"there is no setting {name}: {hint}"


def _check(value: _T, wrong: str | None) -> _T:
    if wrong is not None:
        raise ValueError(wrong)
    return value
