"""The service's configuration: the scope of audits, the policy, and the bounds.

One document for every part of the service; the infrastructure writes it where the functions read it.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

from plimsoll.clouds.aws.names import AUDIT_ROLE, CHANGE_PLAN_ROLE, CHANGE_ROLE, PROBE_ROLE, VALIDATION_ROLE
from plimsoll.model.errors import BadInput, PolicyError
from plimsoll.model.policy import Policy
from plimsoll.model.task import ScratchBounds
from plimsoll.policy_file import parse_policy
from plimsoll_google.federation import FederationConfig
from plimsoll_google.names import FOLDER_ID, ORGANIZATION_ID, PROJECT_ID
from plimsoll_google.names import GOOGLE_REGION_NAME as GOOGLE_REGION
from plimsoll_service.slack_config import AccountId, SlackConfig

MOST_CONFIG_BYTES: Final = 8192
"""The longest value of an SSM parameter of the advanced tier (SSM PutParameter, Value)."""

UnitId = Annotated[str, StringConstraints(pattern=r"^(ou-[0-9a-z]{4,32}-[0-9a-z]{8,32}|r-[0-9a-z]{4,32})$")]

Project = Annotated[str, StringConstraints(pattern=rf"^{PROJECT_ID}$")]
Folder = Annotated[str, StringConstraints(pattern=rf"^{FOLDER_ID}$")]
GoogleOrganization = Annotated[str, StringConstraints(pattern=rf"^{ORGANIZATION_ID}$")]
GoogleRegion = Annotated[str, StringConstraints(pattern=rf"^{GOOGLE_REGION}$")]

RoleName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_+=,.@-]{1,64}$")]

_CREDENTIALS: Final = "google_credentials"


MOST_ON_A_PAGE: Final = 20_000
"""The most volumes that a page may show: more make a file that browsers open slowly."""


class ValidationBudget(BaseModel):
    """The spending limits of validations, and where they measure. Money is USD."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    max_usd: float = Field(default=5.0, ge=0, description="USD that the scratch volumes of one validation may cost.")
    max_runs: int = Field(default=10, ge=1, le=100, description="Measurements that one validation may make.")
    at_once: int = Field(default=2, ge=1, le=10, description="Measurements under way at once, one a bench host.")
    bench_hosts: tuple[str, ...] = Field(
        default=(), description="Bench hosts by instance id. Default: those with the tags of the policy."
    )
    copies: bool = Field(
        default=False,
        description="Allow the mode copy, of volumes that their owners tagged plimsoll:copy=true. It reads their data.",
    )
    max_size_gib: int = Field(
        default=ScratchBounds().size_gib, ge=1, le=65_536, description="The largest scratch volume, GiB."
    )
    max_iops: int = Field(
        default=ScratchBounds().iops, ge=3000, le=256_000, description="The most IOPS of a scratch volume."
    )
    max_throughput_mib_s: int = Field(
        default=ScratchBounds().throughput_mib_s, ge=125, le=4000, description="The most MiB/s of a scratch volume."
    )

    @property
    def scratch_bounds(self) -> ScratchBounds:
        """The largest scratch volume that may be made."""
        return ScratchBounds(size_gib=self.max_size_gib, iops=self.max_iops, throughput_mib_s=self.max_throughput_mib_s)


class ServiceConfig(BaseModel):
    """The scope of audits and validations, the policy, and the bounds."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    organization: bool = Field(default=False, description="Audit every active account of the Organization.")
    organizational_units: tuple[UnitId, ...] = Field(
        default=(), description="Audit the active accounts under these organizational units (ou-... or r-...)."
    )
    accounts: tuple[AccountId, ...] = Field(
        default=(), description="Audit these accounts. Default: the one that it is deployed in."
    )
    regions: tuple[str, ...] = Field(
        default=(), description="The regions to audit. Default: all that an account has enabled."
    )
    role_name: RoleName = Field(default=AUDIT_ROLE, description="The role to audit a member account with.")
    validation_role_name: RoleName = Field(default=VALIDATION_ROLE, description="The role to measure there with.")
    probe_role_name: RoleName = Field(default=PROBE_ROLE, description="The role to probe there with.")
    change_role_name: RoleName = Field(default=CHANGE_ROLE, description="The role to change planned volumes with.")
    change_plan_role_name: RoleName = Field(
        default=CHANGE_PLAN_ROLE, description="The role to look at volumes there for a plan, and to tag them, with."
    )
    role_path: str = Field(
        default="/",
        pattern=r"^/([A-Za-z0-9_+=,.@-]+/)*$",
        max_length=512,
        description="The path of all roles, the service's own and those in member accounts.",
    )
    external_id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_+=,.@:/-]+$",
        min_length=2,
        max_length=1224,
        description="The external id that those roles ask for.",
    )
    google_projects: tuple[Project, ...] = Field(default=(), description="Audit these Google Cloud projects, by id.")
    google_folders: tuple[Folder, ...] = Field(
        default=(), description="Audit the active projects under these Google Cloud folders, by number."
    )
    google_organizations: tuple[GoogleOrganization, ...] = Field(
        default=(), description="Audit the active projects of these Google Cloud organizations, by number."
    )
    google_regions: tuple[GoogleRegion, ...] = Field(
        default=(), description="The Google Cloud regions to audit. Default: all that a project can use."
    )
    google_credentials: FederationConfig | None = Field(
        default=None,
        description="How the functions' roles become known to Google: the configuration of a workload identity pool, "
        "as JSON; it holds no secret.",
    )
    policy: dict[str, Any] = Field(default_factory=dict, description="The policy, as in a policy file.")
    when_busy: Literal["wait", "stop"] = Field(
        default="wait", description="Behavior while another audit is under way: wait for its end, or stop."
    )
    page_volumes: int = Field(
        default=5000,
        ge=100,
        le=MOST_ON_A_PAGE,
        description="The most volumes that a page shows; tables have all of them.",
    )
    validation: ValidationBudget = Field(default_factory=ValidationBudget, description="The bounds of validations.")
    change_rules: dict[str, Any] = Field(
        default_factory=dict,
        description="The rules for changes, as in a rules file; their approvers say who may approve a plan.",
    )
    slack: SlackConfig | None = Field(
        default=None, description="Slack: where reports are posted and commands answered. Default: none."
    )

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> "ServiceConfig":
        """The configuration in plain values. Raises BadInput, which names the key that cannot be used, and what it may
        be."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise BadInput(_sentence(error.errors()[0])) from error

    def to_text(self) -> str:
        """The configuration as the functions read it. Raises BadInput if it is longer than a parameter may be."""
        text = self.model_dump_json(exclude_defaults=True)
        if len(text.encode()) > MOST_CONFIG_BYTES:
            raise BadInput(
                f"the configuration with its policy has {len(text.encode()):,} bytes, and a parameter holds "
                f"{MOST_CONFIG_BYTES:,}: shorten the policy, for example its overrides by tag, or the list of accounts "
                "(name organizational units instead)."
            )
        return text

    @property
    def audits_google(self) -> bool:
        return bool(self.google_projects or self.google_folders or self.google_organizations)

    @property
    def parsed_policy(self) -> Policy:
        """The policy that is decided by."""
        return parse_policy(self.policy)

    @field_validator(
        *("organizational_units", "accounts", "regions"),
        *("google_projects", "google_folders", "google_organizations", "google_regions"),
    )
    @classmethod
    def _count_once(cls, named: tuple[str, ...]) -> tuple[str, ...]:
        """The names, each once: a region twice would count its volumes and their money twice."""
        return tuple(dict.fromkeys(named))

    @field_validator("policy")
    @classmethod
    def _usable(cls, policy: dict[str, Any]) -> dict[str, Any]:
        try:
            parse_policy(policy)
        except PolicyError as error:
            raise ValueError(str(error).rstrip(".")) from error
        return policy

    @field_validator("change_rules")
    @classmethod
    def _usable_rules(cls, rules: dict[str, Any]) -> dict[str, Any]:
        if rules:
            from plimsoll_change.plan_files import parse_rules  # noqa: PLC0415  # most deployments have none

            try:
                parse_rules(rules, "change_rules")
            except BadInput as error:
                raise ValueError(str(error).rstrip(".")) from error
        return rules

    @model_validator(mode="after")
    def _one_scope(self) -> "ServiceConfig":
        scopes = [name for name in ("organization", "organizational_units", "accounts") if getattr(self, name)]
        if len(scopes) > 1:
            raise ValueError(f"give one of {' and '.join(scopes)}, not both")
        return self


def _sentence(error: Any) -> str:
    """The fault that pydantic found; credentials are not repeated, since they may be a key."""
    key = ".".join(str(part) for part in error["loc"]) or "configuration"
    if error["loc"][:1] != (_CREDENTIALS,):
        return f"{key} is {error['input']!r}: {error['msg'].lower()}."
    reason = error.get("ctx", {}).get("error")
    return f"{reason}." if isinstance(reason, ValueError) else f"{key} cannot be used: {error['msg'].lower()}."
