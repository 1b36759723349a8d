"""OpenMetrics: a run's figures as gauges, for Prometheus and for node_exporter's textfile collector.

Both read these lines: the older text format of Prometheus takes `# UNIT` and `# EOF` for comments. What is not known
has no sample, so that no figure that is 0 stands for one that nobody knows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from plimsoll.decide.offers import LossCode
from plimsoll.model.kinds import CountsAs
from plimsoll.reports.printable import printable
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.steps import step_of
from plimsoll.reports.totals import RunTotals, counted_owner
from plimsoll.reports.wording import cut

MEDIA_TYPE: Final = "application/openmetrics-text"
CONTENT_TYPE: Final = f"{MEDIA_TYPE}; version=1.0.0; charset=utf-8"
PLAIN_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The content type for a reader that asks for OpenMetrics, and for any other."""

ALL_OTHERS: Final = "(others)"
"""The label that stands for all that are not among the largest."""

MOST_ACCOUNTS: Final = 100
MOST_OWNERS: Final = 50

_USD_MONTH: Final = "usd_per_month"
_VOLUMES: Final = "volumes"
_JUDGED: Final = (CountsAs.SAVED, CountsAs.MORE, CountsAs.SAME, CountsAs.LATER)
"""The kinds of answers of which it is known what they save, if a price is."""

Labels = Mapping[str, str]
Sample = tuple[Labels, float | None]


class Gauge(NamedTuple):
    """A family of samples: its name, which ends in its unit if it has one, and a sentence."""

    name: str
    unit: str
    text: str


@dataclass(slots=True)
class LabeledPart:
    """The totals of volumes with the same labels; `judged` ones have a price and a known saving."""

    totals: RunTotals = field(default_factory=lambda: RunTotals(by={}))
    judged: int = 0

    def add(self, record: RecommendationRecord) -> None:
        """Counts a volume."""
        self.totals.add(record)
        self.judged += record.kind.money in _JUDGED and record.monthly_usd_now is not None

    def merge(self, other: "LabeledPart") -> None:
        """Counts the volumes of another part."""
        self.totals.merge(other.totals)
        self.judged += other.judged

    def cost(self) -> float | None:
        """The cost of the volumes whose price is known; None if none is."""
        return self.totals.usd_now if self.totals.answered_count > self.totals.unpriced else None


def _money(amount: Callable[[RunTotals], float]) -> Callable[[LabeledPart], float | None]:
    """An amount of a part; None if no volume of it was judged."""
    return lambda part: amount(part.totals) or (0.0 if part.judged else None)


def _find_expected(part: LabeledPart) -> float | None:
    return part.totals.risk.risks_pct / 100 if part.totals.risk.promised else None


_MAIN: Final = (
    (Gauge("cost", _USD_MONTH, "Cost of the volumes whose price is known."), LabeledPart.cost),
    (Gauge("saving", _USD_MONTH, "Saving of all recommendations."), _money(lambda totals: totals.usd_saved)),
)
_MORE: Final = (
    (
        Gauge("drop_in_saving", _USD_MONTH, "Part of the saving from replacements with the same limits."),
        _money(lambda totals: totals.usd_saved_drop_in),
    ),
    (
        Gauge("blocked_saving", _USD_MONTH, "Part of the saving that is blocked today."),
        _money(lambda totals: totals.usd_blocked),
    ),
    (
        Gauge("upgrade_cost", _USD_MONTH, "Further cost of faster volumes where work is throttled; not in the saving."),
        _money(lambda totals: totals.usd_upgrades),
    ),
    (
        Gauge("waiting_saving", _USD_MONTH, "Possible saving that cannot be judged yet; not in the saving."),
        _money(lambda totals: totals.usd_waiting),
    ),
    (
        Gauge("too_risky_saving", _USD_MONTH, "Saving of reductions above the allowed risk; not in the saving."),
        _money(lambda totals: totals.usd_too_risky),
    ),
    (
        Gauge("answered", _VOLUMES, "Volumes with a recommendation."),
        lambda part: part.totals.answered_count,
    ),
    (Gauge("unpriced", _VOLUMES, "Volumes without a known price."), lambda part: part.totals.unpriced),
    (
        Gauge("promised", _VOLUMES, "Reductions with a promised risk."),
        lambda part: part.totals.risk.promised,
    ),
    (
        Gauge("unpromised", _VOLUMES, "Reductions whose risk is not known."),
        lambda part: part.totals.risk.unpromised,
    ),
    (Gauge("expected_throttled", _VOLUMES, "Promised reductions expected to throttle, at most."), _find_expected),
)


class Grouping(NamedTuple):
    """The figures of parts with the same labels; of more than `most` the others are one part."""

    prefix: str
    labels: Callable[[RecommendationRecord], Labels]
    figures: tuple[tuple[Gauge, Callable[[LabeledPart], float | None]], ...]
    most: int | None = None


def _owner_labels(record: RecommendationRecord) -> Labels:
    owner = counted_owner(record.owner)
    return {"owner_kind": owner.kind, "owner": owner.name or ""}


GROUPINGS: Final = (
    Grouping("", lambda record: {"step": step_of(record), "owner_kind": record.owner.kind}, (*_MAIN, *_MORE)),
    Grouping(
        "account_", lambda record: {"cloud": record.provider, "account": record.account}, _MAIN, most=MOST_ACCOUNTS
    ),
    Grouping("owner_", _owner_labels, _MAIN, most=MOST_OWNERS),
)


def metrics_lines(folder: Path, only: Only | None = None) -> Iterator[str]:
    """The exposition of a run.

    With `only` it is of the volumes that this takes, and what is known of the whole run alone is left out. BadInput
    where the run is damaged.
    """
    run, groups = read_run(folder), [_Groups(grouping) for grouping in GROUPINGS]
    losses, limits = Counter[str](), Counter[str]()
    for record in stream_records(folder, only):
        losses.update(loss.code for loss in record.losses)
        limits.update(record.cuts)
        for group in groups:
            group.add(record)
    for group in groups:
        yield from group.lines()
    yield from _family(
        Gauge("loss", _VOLUMES, "Changes that give something up beside IOPS and MiB/s, once for each loss."),
        (({"loss": code}, losses[code]) for code in LossCode),
    )
    yield from _family(
        Gauge("lowered_limit", _VOLUMES, "Changes that lower a limit, once for each limit."),
        (({"limit": side}, limits[side]) for side in ("IOPS", "MiB/s")),
    )
    for gauge, labels, value in _run_figures(run, whole=only is None):
        yield from _family(gauge, [(labels, value)])
    yield "# EOF\n"


class _Groups:
    """The parts of a grouping, by their labels' values."""

    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._parts: dict[tuple[tuple[str, str], ...], LabeledPart] = {}

    def add(self, record: RecommendationRecord) -> None:
        """Counts a volume in its part."""
        labels = tuple((key, cut(printable(text))) for key, text in self._grouping.labels(record).items())
        self._parts.setdefault(labels, LabeledPart()).add(record)

    def lines(self) -> Iterator[str]:
        """The families of the grouping."""
        parts = list(self._largest())
        for gauge, value in self._grouping.figures:
            named = gauge._replace(name=f"{self._grouping.prefix}{gauge.name}")
            yield from _family(named, ((labels, value(part)) for labels, part in parts))

    def _largest(self) -> Iterator[tuple[Labels, LabeledPart]]:
        """The parts that save most, and one of the others for each value of the first label."""
        ranked = sorted(
            self._parts.items(), key=lambda item: (-item[1].totals.saved_cents, -item[1].totals.now_cents, item[0])
        )
        most, others = self._grouping.most, dict[tuple[tuple[str, str], ...], LabeledPart]()
        for place, (labels, part) in enumerate(ranked):
            named = labels if most is None or place < most else (*labels[:-1], (labels[-1][0], ALL_OTHERS))
            others.setdefault(named, LabeledPart()).merge(part)
        for named, part in others.items():
            yield dict(named), part


def _run_figures(run: RunRecord, *, whole: bool) -> Iterator[tuple[Gauge, Labels, float | None]]:
    """The figures of a run itself. If the exposition is of a part, coverage and promises are left out."""
    version = run.versions.get("plimsoll", "")
    yield Gauge("run_info", "", "The run, by its labels; always 1."), _labels_of(run.status, version), 1
    as_of = run.as_of.timestamp()
    yield Gauge("run_timestamp", "seconds", "Time of the run, in seconds since 1970."), {}, as_of
    if not whole:
        return
    volumes, risk, kept = run.volumes, run.risk, run.promises
    yield Gauge("seen", _VOLUMES, "Volumes found."), {}, volumes.seen
    yield Gauge("failed", _VOLUMES, "Volumes that could not be judged."), {}, volumes.failed
    yield Gauge("skipped", _VOLUMES, "Volumes that the policy or people left out."), {}, sum(volumes.skipped.values())
    yield Gauge("failed_targets", "", "Accounts and regions that could not be read."), {}, len(run.failures.targets)
    if risk is not None and risk.promised:
        yield (
            Gauge("promise_throttling", "seconds", "Throttled time above which a promise is not kept."),
            {},
            risk.minutes * 60,
        )
        yield Gauge("promise_window", "seconds", "Time for which a promise holds."), {}, risk.days * 86400
    if kept is not None:
        yield Gauge("changed", _VOLUMES, "Changed volumes with a promise that were seen again."), {}, kept.changed
        yield (
            Gauge("changed_throttled", _VOLUMES, "Changed volumes with a promise that throttled for longer."),
            {},
            kept.throttled,
        )
        expected = Gauge(
            "changed_expected_throttled",
            _VOLUMES,
            "Changed volumes with a promise that were expected to throttle for longer.",
        )
        yield expected, {}, kept.expected
        yield Gauge("promises_broken", "", "1 if more volumes throttled than chance explains, else 0."), {}, kept.broken
        watched = Gauge("promises_observed", "ratio", "Share of the promised time that was observed.")
        yield watched, {}, kept.observed_pct / 100


def _labels_of(status: str, version: str) -> Labels:
    return {"status": status, "version": version}


def _family(gauge: Gauge, samples: Iterable[Sample]) -> Iterator[str]:
    """The lines of a family; none if no sample is known."""
    known = [(labels, value) for labels, value in samples if value is not None]
    if not known:
        return
    name = f"plimsoll_{gauge.name}{'_' if gauge.unit else ''}{gauge.unit}"
    yield f"# HELP {name} {gauge.text}\n"
    yield f"# TYPE {name} gauge\n"
    if gauge.unit:
        yield f"# UNIT {name} {gauge.unit}\n"
    for labels, value in known:
        inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels.items())
        yield f"{name}{f'{{{inner}}}' if inner else ''} {round(float(value), 6)!r}\n"


def _escape(text: str) -> str:
    """A label's value as the format writes it."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
