"""Recommendations in the columns of a draft: the Recommendation dataset that is proposed for FOCUS 1.5.

The draft is pull request 2444 of FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec. It is not ratified, and may change.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from plimsoll.model.kinds import CHANGES, CountsAs
from plimsoll.reports.change_files import change_note
from plimsoll.reports.csv_table import cell, csv_line
from plimsoll.reports.record import DemandRecord, RecommendationRecord, SpecRecord
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.steps import step_of
from plimsoll.reports.wording import kind_words, outcome_text, owner_text, risk_level, words_of

DRAFT: Final = (
    "FOCUS 1.5 draft: Recommendation dataset, FOCUS_Spec pull request 2444 as of 2026-09-21. Not ratified; columns may "
    "change."
)
"""The mark of every row: what its columns follow, and as of when."""

_CATEGORIES: Final[Mapping[CountsAs, tuple[str, str]]] = {
    CountsAs.SAVED: ("Cost", "Rightsizing"),
    CountsAs.MORE: ("Performance", "Other (Performance)"),
    CountsAs.COST: ("Cost", "Idle Resource Removal"),
}
"""The draft's category and subcategory of each kind of answer that asks for something, by what its money counts as."""

_ANOTHER_TYPE: Final = ("Cost", "Modernization")
"""The draft's category and subcategory of a saving by another type."""

_RISKS: Final = {"none": "Very Low", "allowed": "Low", "above": "High"}
"""The draft's words for levels of risk; none for a risk that is not known."""


def focus_lines(records: Iterable[RecommendationRecord], run: RunRecord) -> Iterator[str]:
    """The lines of a CSV file with a row for each recommendation that asks for something and has a price.

    What waits, is kept or is not known asks for nothing.
    """
    yield csv_line(_COLUMNS)
    for record in filter(_is_recommended, records):
        yield csv_line(cell(find(record, run)) for find in _COLUMNS.values())


def _is_recommended(record: RecommendationRecord) -> bool:
    """True for what asks for something, and has a price where its category is Cost."""
    money = record.kind.money
    return money in _CATEGORIES and (record.monthly_usd_now is not None or _CATEGORIES[money][0] != "Cost")


def _category(record: RecommendationRecord) -> tuple[str, str]:
    is_saving = record.kind.money is CountsAs.SAVED
    if is_saving and record.target is not None and record.target.type != record.current.type:
        return _ANOTHER_TYPE
    return _CATEGORIES[record.kind.money]


def _impact(record: RecommendationRecord, _run: RunRecord) -> float | None:
    """The change of the monthly cost in USD: less than 0 is a saving. None if no price is known."""
    if record.monthly_usd_now is None:
        return None
    saved = record.monthly_usd_now if record.kind.money is CountsAs.COST else record.monthly_usd_saved
    return round(-saved, 2) + 0.0  # no -0.0


def _description(record: RecommendationRecord, _run: RunRecord) -> str:
    if record.action in CHANGES:
        return change_note(record)
    return f"{record.volume_id}: {kind_words(record.kind)}, {outcome_text(record)}. {record.kind.why}"


def _risk_word(record: RecommendationRecord, _run: RunRecord) -> str | None:
    level = risk_level(record)
    return "Low" if level == "none" and record.losses else _RISKS.get(level or "")


def _period(bound: str) -> Callable[[RecommendationRecord, RunRecord], str | None]:
    """The start or the end of the time that a recommendation rests on; None where a run did not keep it."""

    def find(record: RecommendationRecord, _run: RunRecord) -> str | None:
        if not record.epochs:
            return None
        text = record.epochs[0].start if bound == "start" else record.epochs[-1].end
        return _date_time(datetime.fromisoformat(text))

    return find


def _as_of(_record: RecommendationRecord, run: RunRecord) -> str:
    return _date_time(run.as_of)


def _date_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _details(record: RecommendationRecord, run: RunRecord) -> str:
    """The figures without a column, as a JSON object without nesting; keys of our own begin with x_."""
    evidence, level = record.evidence, risk_level(record)
    details = {
        **_metrics(record.demand),
        **_configuration("x_Current", record.current),
        **_configuration("x_Recommended", record.target),
        "x_Step": step_of(record).value,
        "x_SavedWithSameLimitsUsd": record.monthly_usd_saved_drop_in,
        "x_GivesUp": ", ".join([*record.cuts, *(loss.code for loss in record.losses)]) or None,
        "x_RiskLevel": level,
        "x_RiskPromisedPct": record.risk and record.risk.promised_pct,
        "x_EvidenceGrade": evidence and evidence.grade,
        "x_Evidence": evidence and evidence.text,
        "x_Blockers": "; ".join(blocker.text for blocker in record.blockers) or None,
        "x_Owner": owner_text(record.owner),
        "x_Change": record.change or None,
        "x_WayBack": record.way_back or None,
        "x_RunId": run.id,
        "x_PlimsollVersion": run.versions.get("plimsoll"),
    }
    return json.dumps({key: value for key, value in details.items() if value is not None}, ensure_ascii=False)


def _metrics(demand: DemandRecord | None) -> dict[str, float]:
    """The metrics of a demand. A peak of which some minutes were not read is called an upper bound."""
    if demand is None:
        return {}
    is_exact = demand.least_peak_iops == demand.peak_iops
    is_exact_moved = demand.least_peak_throughput_mib_s == demand.peak_throughput_mib_s
    return {
        "DiskIopsAverage": demand.mean_iops,
        "DiskIopsMax" if is_exact else "x_DiskIopsAtMost": demand.peak_iops,
        "x_DiskMibPerSecondAverage": demand.mean_throughput_mib_s,
        "x_DiskMibPerSecondMax" if is_exact_moved else "x_DiskMibPerSecondAtMost": demand.peak_throughput_mib_s,
    }


def _configuration(prefix: str, spec: SpecRecord | None) -> dict[str, Any]:
    if spec is None:
        return {}
    return {
        f"{prefix}Type": spec.type,
        f"{prefix}SizeGib": spec.size_gib,
        f"{prefix}Iops": spec.iops,
        f"{prefix}MibPerSecond": spec.throughput_mib_s,
    }


def _recommendation_id(record: RecommendationRecord, _run: RunRecord) -> str:
    """The same in every run that recommends the same for the volume."""
    return "/".join(("plimsoll", record.provider, record.account, record.region, record.volume_id, record.action))


_COLUMNS: Final[Mapping[str, Callable[[RecommendationRecord, RunRecord], object]]] = {
    # A run does not know who pays, nor what accounts and regions are called.
    "BillingAccountId": lambda _record, _run: None,
    "BillingAccountName": lambda _record, _run: None,
    "Currency": lambda _record, _run: "USD",
    "EstimatedMonthlyCostImpact": _impact,
    "EvaluationPeriodEnd": _period("end"),
    "EvaluationPeriodStart": _period("start"),
    "ImplementationRisk": _risk_word,
    "RecommendationCategory": lambda record, _run: _category(record)[0],
    "RecommendationCreated": _as_of,
    "RecommendationDescription": _description,
    "RecommendationDetails": _details,
    "RecommendationId": _recommendation_id,
    "RecommendationLastUpdated": _as_of,
    "RecommendationProviderName": lambda _record, _run: "Plimsoll",
    "RecommendationStatus": lambda record, _run: "Deferred" if record.blockers else "Open",
    "RecommendationSubcategory": lambda record, _run: _category(record)[1],
    "RegionId": lambda record, _run: record.region,
    "RegionName": lambda _record, _run: None,
    "ResourceId": lambda record, _run: record.volume_id,
    "ResourceName": lambda record, _run: record.name,
    "ResourceType": lambda _record, _run: "Block Storage Volume",
    "ServiceCategory": lambda _record, _run: "Storage",
    "ServiceName": lambda record, _run: words_of(record.provider).block_storage,
    "ServiceProviderName": lambda record, _run: words_of(record.provider).cloud,
    "ServiceSubcategory": lambda _record, _run: "Block Storage",
    "SubAccountId": lambda record, _run: record.account,
    "SubAccountName": lambda _record, _run: None,
    "x_FocusDraft": lambda _record, _run: DRAFT,
}
"""The draft's columns in its order, each with the value of a row, and one of our own that marks the draft."""
