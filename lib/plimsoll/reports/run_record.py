"""The record of a run: run.json as the world reads it. What an earlier or a later version wrote besides is kept."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from plimsoll.decide.history import FIRST_RULE
from plimsoll.files import parse_json, unseal
from plimsoll.model.market import DOLLARS

_OLD_MONEY_KEYS: Final = {"saved_at_parity": "saved_drop_in"}
"""The keys of `monthly_usd` that earlier versions wrote, each with its name of today."""

_OLD_POLICY_KEYS: Final = {"peak_quantile": None, "upgrade_step_pct": "throttle_lift_pct"}
"""The policy's keys that earlier versions wrote, each with its name of today, None where nothing took its place."""

_NEW_MONEY: Final = {"waiting": 0.0, "too_risky": 0.0, "saved_by_templates": 0.0}
"""The keys of `monthly_usd` that earlier versions did not write, with what they are then."""


def _with_time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    @property
    def plain(self) -> dict[str, Any]:
        """The part in plain values, with the keys that it was made of."""
        return self.model_dump(mode="json", exclude_unset=True)


class VolumeCounts(_Part):
    """The volumes of a run by their outcomes; `skipped` by reason. Of `unpriced` ones no price is known."""

    seen: int
    answered: int
    unpriced: int = 0
    skipped: dict[str, int]
    failed: int
    reconciled: bool = True


class PartUsd(_Part):
    """The money of a part of a run, USD a month."""

    now: float
    saved: float
    saved_drop_in: float = 0.0
    more_for_upgrades: float = 0.0
    waiting: float = 0.0
    too_risky: float = 0.0


class RunUsd(PartUsd):
    """The money of a run, USD a month. A kind of answer that is paid for nothing has a key of its own."""

    saved_on_proof: float
    saved_but_blocked: float
    saved_by_templates: float = 0.0

    def amount(self, key: str) -> float:
        """The money of a key; 0 for a kind that an earlier version did not know."""
        return float(getattr(self, key, 0.0))


class PartSummary(_Part):
    """The volumes and the money of a cloud or of a step."""

    volumes: int
    monthly_usd: PartUsd


class SaferLevel(_Part):
    """The next level of safety of the volumes that have one."""

    volumes: int
    expected: float
    more_usd_month: float


class RunRisk(_Part):
    """The risk of doing all that a run recommends (`plimsoll.reports.totals`)."""

    promised: int
    unpromised: int
    expected: float
    minutes: float
    days: float
    safer: SaferLevel | None


class Failures(_Part):
    """The places, and the volumes of the others by place and reason, that could not be read."""

    targets: dict[str, str]
    volumes: dict[str, dict[str, list[str]]]


class PriceSource(_Part):
    """The list that a place's prices are from."""

    source: str | None
    as_of: str | None


class TemplateTarget(_Part):
    """A configuration that a template is to have; its sizes stay."""

    type: str
    iops: int | None
    throughput_mib_s: int | None


class TemplateChange(_Part):
    """A change of a template for all volumes that it made."""

    provider: str
    account: str
    region: str
    kind: str
    template: str
    device: str
    type: str
    volumes: int
    example: str
    target: TemplateTarget
    monthly_usd_saved: float
    monthly_usd_saved_beyond_volumes: float


class CostGroup(_Part):
    """The volumes of an owner that are paid for nothing, made in one year; `made` is null where that is not known."""

    owner: str
    made: int | None
    volumes: int
    monthly_usd: float


class RunUsage(_Part):
    """The calls, metrics and datapoints that a run took, and what they cost."""

    calls: int
    metrics: int
    datapoints: int
    estimated_usd: float


class RunPlan(_Part):
    """The expected reading of a run; `most_datapoints` are those of every minute."""

    most_datapoints: int
    estimated_usd: float = 0.0


class HistoryTold(BaseModel):
    """The counts of the answers to earlier recommendations, over the volumes of one run."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, defer_build=True, json_schema_serialization_defaults_required=True
    )

    new: int = Field(ge=0, description="recommendations that are new or changed since the last run")
    by_rule: int = Field(default=0, ge=0, description="recommendations that differ because the rule has changed")
    snoozed: int = Field(ge=0, description="recommendations that somebody hid until a date")
    done: int = Field(ge=0, description="volumes whose recommendation was carried out, since the first run")
    done_now: int = Field(ge=0, description="of these, volumes first seen done by this run")
    saved_usd_month_since: float = Field(ge=0, description="the promised savings of all done recommendations")


class KeptPromises(_Part):
    """The changed volumes of earlier promises: how many throttled, and how many were expected to."""

    changed: int
    throttled: int
    expected: float
    chance_pct: float
    broken: bool
    observed_pct: float


class TableSource(_Part):
    """The table of headroom that promises rest on: its volumes, its day and its fleets."""

    volumes: int
    on: str
    of: str


class Learning(_Part):
    """The volumes that a run could learn headroom from, and what promises rest on; null for public fleets."""

    volumes: int
    rests_on: TableSource | None


class RealizedSavings(_Part):
    """The newest month of a bill beside earlier promises, in USD of that month; of all runs, not of this one alone."""

    month: str
    promised: float
    carried_out: float
    realized: float
    lost: float


class PaidRecord(_Part):
    """A row of the picture: the money that is paid a month for things of one type in one state.

    `count` things; of `unpriced` ones nothing says what they cost, so that they are in no sum. The five parts together
    are `paid`: used, to be taken now, with proof, by the owner's word, and not known.
    """

    type: str
    state: str
    currency: str = DOLLARS
    count: int = 0
    unpriced: int = 0
    paid: float = 0.0
    used: float = 0.0
    now: float = 0.0
    proof: float = 0.0
    owner: float = 0.0
    unknown: float = 0.0


PAID_PARTS: Final = ("paid", "used", "now", "proof", "owner", "unknown")
"""The money of a row of the picture."""


class StateSum(_Part):
    """The money of all things in a state, USD a month.

    The cost of `unpriced` things, and the saving of `unsaved` ones, is not known and in no sum.
    """

    state: str
    things: int
    unpriced: int
    unsaved: int
    monthly_usd: float
    monthly_usd_saved_least: float
    monthly_usd_saved_most: float


class RunBegun(_Part):
    """The beginning of a run: its time, scope and policy."""

    now: Annotated[str, AfterValidator(_with_time)]
    scope: dict[str, Any]
    policy: dict[str, Any]
    every_minute: bool = False

    @property
    def as_of(self) -> datetime:
        """The time, in UTC, that a run's figures are of."""
        return datetime.fromisoformat(self.now).astimezone(UTC)


class RunRecord(RunBegun):
    """A run: how it was begun, what it found, and what it took."""

    id: str
    status: str
    versions: dict[str, str] = Field(default_factory=dict)
    rule: int = FIRST_RULE
    volumes: VolumeCounts
    actions: dict[str, int]
    monthly_usd: RunUsd
    risk: RunRisk | None = None
    failures: Failures
    notices: dict[str, list[str]]
    prices: dict[str, PriceSource]
    clouds: dict[str, PartSummary] = Field(default_factory=dict)
    templates: list[TemplateChange] = Field(default_factory=list)
    steps: dict[str, PartSummary] = Field(default_factory=dict)
    plan: RunPlan
    usage: RunUsage
    seconds: dict[str, float]
    history: HistoryTold | None = None
    promises: KeptPromises | None = None
    learning: Learning | None = None
    realized: RealizedSavings | None = None
    paid: list[PaidRecord] = Field(default_factory=list)
    states: list[StateSum] = Field(default_factory=list)

    def cost_groups(self, kind: str) -> list[CostGroup]:
        """The groups of a kind that is paid for nothing; none where an earlier version did not know it."""
        return [CostGroup.model_validate(group) for group in (self.model_extra or {}).get(kind, ())]


def run_of(text: str | bytes) -> RunRecord:
    """A run.json, whichever version wrote it; ValueError and TypeError where it is none."""
    return RunRecord.model_validate(_with_new_keys(text))


def run_begun(text: str | bytes) -> RunBegun:
    """The beginning of the run of a run.json; errors as of `run_of`."""
    return RunBegun.model_validate(_with_new_keys(text))


def _with_new_keys(text: str | bytes) -> dict[str, Any]:
    """The run's data with today's keys: those of earlier versions are renamed, and missing sums are 0."""
    run = unseal({**parse_json(text)})
    if isinstance(run.get("policy"), dict):
        run["policy"] = _policy_of(run["policy"])
    money = run.get("monthly_usd")
    if isinstance(money, dict):
        run["monthly_usd"] = _NEW_MONEY | {_OLD_MONEY_KEYS.get(key, key): amount for key, amount in money.items()}
    return run


def _policy_of(written: Mapping[str, Any]) -> dict[str, Any]:
    """A run's policy with the keys of today."""
    renamed = {_OLD_POLICY_KEYS.get(key, key): value for key, value in written.items()}
    policy = {key: value for key, value in renamed.items() if key is not None}
    if "overrides" in policy:
        policy["overrides"] = [
            {**override, "policy": _policy_of(override["policy"])} for override in policy["overrides"]
        ]
    return policy
