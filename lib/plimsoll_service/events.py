"""Events: messages of the service to all who listen, a model for each kind, which is also its detail type.

Money is USD a month with two decimals, times are ISO 8601 in UTC. A detail stays far under the 256 KB of an event:
lists and texts that people's names and numbers make long are cut, and a count says how many there were.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.clouds.targets import named_target
from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.reports.record import Action, Grades, OwnerRecord, RecommendationRecord, SpecRecord
from plimsoll.reports.run_record import HistoryTold, RunRecord
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.wording import cut

MOST_NAMED: Final = 50
"""The most places, volumes or sentences that an event names."""

LONGEST_TEXT: Final = 500
"""The longest text in an event, in characters."""

ServiceEvent = tuple[str, Mapping[str, Any]]
"""The kind of an event and its detail in plain values."""


class _Detail(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, defer_build=True, json_schema_serialization_defaults_required=True
    )


class AuditCompleted(_Detail):
    """An audit has ended, and its report is written."""

    run_id: str = Field(description="the run")
    status: Literal["complete", "partial"] = Field(description="partial where something could not be read")
    now: datetime = Field(description="the time that the run's answers hold for")
    report: str = Field(description="where its report.html is, as s3://bucket/key")
    volumes: dict[str, int] = Field(description="how many were seen, answered, skipped and failed")
    actions: dict[str, int] = Field(description="how many volumes have each action")
    monthly_usd: dict[str, float] = Field(description="the money, as in run.json")
    failed_places: list[str] = Field(
        max_length=MOST_NAMED, description="the places that could not be read, each with the reason"
    )
    failed_places_total: int = Field(ge=0, description="how many places could not be read")
    history: HistoryTold | None = Field(
        description="new and carried-out recommendations; null where no history is kept"
    )


class RecommendationNew(_Detail):
    """A run recommends something of a volume that was not recommended before."""

    run_id: str = Field(description="the run that found it")
    provider: str = Field(description="the volume's cloud: aws or google")
    account: str = Field(description="the volume's account, or project")
    region: str = Field(description="its region")
    volume_id: str = Field(description="the volume")
    name: str | None = Field(description="its Name tag, if it has one")
    owner: OwnerRecord = Field(description="who made the volume and would change it")
    action: Action = Field(description="what should be done")
    step: Step = Field(description="in which order to act: as in `plimsoll query`")
    current: SpecRecord = Field(description="the configuration as it is")
    target: SpecRecord | None = Field(description="the recommended one; null where none is")
    monthly_usd_now: float | None = Field(description="what it costs; null where no price is known")
    monthly_usd_saved: float = Field(description="what the change saves; negative where an upgrade costs more")
    evidence: Grades | None = Field(description="the evidence grade of the offer; null if there is none")
    blockers: list[str] = Field(
        max_length=MOST_NAMED, description="the codes of the blockers that forbid the change today"
    )


class ValidationCompleted(_Detail):
    """A measurement has ended with a verdict."""

    id: str = Field(description="the validation")
    at: datetime = Field(description="when the verdict was given")
    mode: Literal["canary", "copy", "in-place"] = Field(description="how it was measured")
    provider: str = Field(description="the cloud that was measured in: aws or google")
    account: str = Field(description="the account, or project, that was measured in")
    region: str = Field(description="its region")
    volume_id: str = Field(description="the volume that it was measured for first")
    serves: list[str] = Field(max_length=MOST_NAMED, description="the volumes that the verdict is about")
    serves_total: int = Field(ge=0, description="how many volumes the verdict is about")
    spec: SpecRecord = Field(description="the configuration that was measured")
    passed: bool = Field(description="whether it carries what those volumes need")
    failures: list[str] = Field(max_length=MOST_NAMED, description="why it did not pass, a sentence each")
    shown_iops: float = Field(description="IOPS that it carried")
    shown_throughput_mib_s: float = Field(description="MiB/s that it carried")
    need_iops: float = Field(description="IOPS that it should carry")
    need_throughput_mib_s: float = Field(description="MiB/s that it should carry")
    p99_latency_us: float | None = Field(description="microseconds that 99 % of its operations took at most")
    usd: float | None = Field(description="what measuring cost, in USD; null where no price is known")
    campaign: str = Field(description="where the measurements are kept")
    simulated: bool = Field(description="whether a simulated bench measured it")


NewsKind = Literal["taken-back", "restored", "not-restored", "judged", "stopped", "paused", "over"]


class ChangeNews(_Detail):
    """One thing that people must know of a plan of changes, of one of its classes, or of a volume."""

    kind: NewsKind = Field(description="what happened; judged: a wave; over: nothing of the plan is left to do")
    at: datetime = Field(description="when")
    title: str = Field(description="what happened, in a few words")
    text: str = Field(description="why, in sentences; may be empty")
    todo: str = Field(default="", description="what a person can do about it; empty if nothing is to be done")
    code: str = Field(default="", description="the code of the reason, or of a wave's verdict, as in the ledger")
    by: str | None = Field(default=None, description="the person who asked for it; null if nobody did")
    account: str | None = Field(default=None, description="the volume's account; null of a class and of the plan")
    region: str | None = Field(default=None, description="its region")
    volume_id: str | None = Field(default=None, description="the volume")
    change_class: str | None = Field(default=None, description="the class; null of the plan")
    wave: int | None = Field(default=None, description="the wave that was judged")
    slower_pct: float | None = Field(default=None, description="by how much latency rose, as the verdict has it")
    stopped_minutes: float | None = Field(default=None, description="minutes stopped beyond those of past weeks")
    hours_watched: int | None = Field(default=None, description="the hours with evidence")


class ChangesProgressed(_Detail):
    """A pass of a plan of changes brought something that people must know."""

    id: str = Field(
        pattern=r"^[A-Za-z0-9_.-]{1,120}$", description="the event: the same where it is sent again, with the same news"
    )
    plan: str = Field(description="the plan")
    run_id: str = Field(description="the run that the plan was made of")
    now: datetime = Field(description="the time of the pass")
    volumes: dict[str, int] = Field(description="how many are planned, changed, going_back, restored and not_restored")
    saved_usd_month: float = Field(description="what those save that are changed now")
    news: list[ChangeNews] = Field(
        max_length=MOST_NAMED, description="what happened: of the plan, then of its classes, then of its volumes"
    )
    news_total: int = Field(ge=0, description="how many things happened")


EVENT_KINDS: Final[Mapping[str, type[BaseModel]]] = {
    kind.__name__: kind for kind in (AuditCompleted, RecommendationNew, ValidationCompleted, ChangesProgressed)
}
"""Every kind of event by its detail type."""


def audit_event(run: RunRecord, report: str) -> ServiceEvent:
    """The event of an audit, from its run.json."""
    volumes, failed = run.volumes, run.failures.targets
    completed = AuditCompleted.model_validate(
        {
            "run_id": run.id,
            "status": run.status,
            "now": run.now,
            "report": report,
            "volumes": {
                "seen": volumes.seen,
                "answered": volumes.answered,
                "skipped": sum(volumes.skipped.values()),
                "failed": volumes.failed,
            },
            "actions": run.actions,
            "monthly_usd": run.monthly_usd.plain,
            "failed_places": [cut(f"{place}: {failed[place]}", LONGEST_TEXT) for place in sorted(failed)[:MOST_NAMED]],
            "failed_places_total": len(failed),
            "history": run.history,
        }
    )
    return _event(AuditCompleted, completed, {})


def recommendation_event(record: RecommendationRecord, run_id: str) -> ServiceEvent:
    """The event of a recommendation that a run was the first to make."""
    owner = record.owner
    differing = {
        "run_id": run_id,
        "name": None if record.name is None else cut(record.name, LONGEST_TEXT),
        "owner": OwnerRecord(kind=owner.kind, name=None if owner.name is None else cut(owner.name, LONGEST_TEXT)),
        "step": step_of(record),
        "evidence": None if record.evidence is None else record.evidence.grade,
        "blockers": sorted({blocker.code for blocker in record.blockers})[:MOST_NAMED],
    }
    return _event(RecommendationNew, record, differing)


def validation_event(line: ValidationLine) -> ServiceEvent:
    """The event of a verdict."""
    differing = {
        "provider": named_target(line.account, line.region).provider,
        "serves": line.serves[:MOST_NAMED],
        "serves_total": len(line.serves),
        "spec": asdict(line.spec),
        "failures": [cut(text, LONGEST_TEXT) for text in line.failures[:MOST_NAMED]],
    }
    return _event(ValidationCompleted, line, differing)


def event_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of an event's detail. Raises KeyError for an unknown kind."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **EVENT_KINDS[kind].model_json_schema(mode="serialization"),
    }


def _event(kind: type[_Detail], record: BaseModel, differing: Mapping[str, Any]) -> ServiceEvent:
    """The event with the fields of a record that have the same names, and with `differing` ones."""
    same = {name: getattr(record, name) for name in kind.model_fields if name in type(record).model_fields}
    return kind.__name__, kind.model_validate({**same, **differing}).model_dump(mode="json")
