"""Findings of a planned change, and their printers: text, JSON, SARIF 2.1.0 and Markdown.

A verdict is a row of a table: its code, its level as SARIF has it, and its words.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from plimsoll.distribution import own_version
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.markdown.markup import fitting, name, prose, table
from plimsoll.reports.printable import printable_values
from plimsoll.reports.wording import count_of, spec_text


@dataclass(frozen=True, slots=True)
class VerdictKind:
    """A row of the table: what a plan does to a volume, its SARIF level, and the `--fail-on` values that refuse it."""

    code: str
    level: str
    words: str
    fails_on: tuple[str, ...] = ()
    is_judged: bool = True


FAIL_ON: Final = ("throttles", "oversized")
"""What a plan may be refused for: what throttles, or also what costs more than is needed."""

VERDICTS: Final[Mapping[str, VerdictKind]] = {
    kind.code: kind
    for kind in (
        VerdictKind("throttles", "error", "The plan lowers a limit that the volume has passed.", FAIL_ON),
        VerdictKind(
            "reverts",
            "warning",
            "The plan takes a recommended change back: set the recommended values in the code.",
            FAIL_ON[1:],
        ),
        VerdictKind("oversized", "warning", "A cheaper configuration carries all demand seen so far.", FAIL_ON[1:]),
        VerdictKind("tight", "warning", "The plan leaves less headroom than the policy asks for."),
        VerdictKind("unknown", "warning", "This change could not be judged.", is_judged=False),
        VerdictKind("new", "note", "The volume is new: there is no demand to judge by."),
        VerdictKind("as-recommended", "note", "The plan makes the recommended change."),
        VerdictKind(
            "fine",
            "note",
            "The planned configuration carries all demand seen so far, and no recommendation costs less.",
        ),
    )
}
"""The verdicts by code, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFinding:
    """A verdict on one planned volume, with its figures. `saved_usd_month` is what `better` would save."""

    address: str
    verdict: str
    text: str
    volume: str | None = None
    before: VolumeSpec | None = None
    planned: VolumeSpec | None = None
    better: VolumeSpec | None = None
    planned_usd_month: float | None = None
    saved_usd_month: float | None = None

    @property
    def kind(self) -> VerdictKind:
        """The row of its verdict."""
        return VERDICTS[self.verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCheck:
    """The findings of a plan, by the run in `run`, which is of the time `as_of`."""

    plan: str
    run: str
    as_of: str
    findings: Sequence[PlanFinding]

    @property
    def summary(self) -> str:
        """The counts in a sentence."""
        counts = Counter(finding.verdict for finding in self.findings)
        if not counts:
            return "The plan changes no volume's type, size, IOPS or throughput."
        listed = ", ".join(f"{counts[code]:,} {code}" for code in VERDICTS if counts[code])
        return f"The plan makes or changes {count_of(len(self.findings), 'volume')}: {listed}."

    @property
    def source(self) -> str:
        """The run that it is judged by, in words."""
        return f"Judged by the run {self.run} of {self.as_of}."

    def refuse(self, fail_on: str) -> bool:
        """True if a finding is among those that `--fail-on` refuses."""
        return any(fail_on in finding.kind.fails_on for finding in self.findings)

    @property
    def is_whole(self) -> bool:
        """True if every change could be judged."""
        return all(finding.kind.is_judged for finding in self.findings)

    @property
    def ranking(self) -> list[PlanFinding]:
        """The findings, the worst first, else in the plan's order."""
        order = list(VERDICTS)
        return sorted(self.findings, key=lambda finding: order.index(finding.verdict))


def text_findings(check: PlanCheck) -> Iterator[str]:
    """The findings as lines for a terminal, the worst first."""
    for finding in check.ranking:
        volume = f" ({finding.volume})" if finding.volume else ""
        yield from printable_values([f"{finding.verdict}: {finding.address}{volume}\n", f"    {finding.text}\n"])
    yield f"{check.summary} {check.source}\n"


def json_findings(check: PlanCheck) -> Iterator[str]:
    """The findings as JSON."""
    rows = [
        {
            "address": finding.address,
            "volume": finding.volume,
            "verdict": finding.verdict,
            "level": finding.kind.level,
            "text": finding.text,
            "before": _plain_spec(finding.before),
            "planned": _plain_spec(finding.planned),
            "better": _plain_spec(finding.better),
            "monthly_usd_planned": finding.planned_usd_month,
            "monthly_usd_saved_by_better": finding.saved_usd_month,
        }
        for finding in check.findings
    ]
    yield _dump({"plan": check.plan, "run": check.run, "as_of": check.as_of, "findings": rows})


def sarif_findings(check: PlanCheck) -> Iterator[str]:
    """The findings as SARIF 2.1.0. A plan has no lines of code, so that each is told by its address."""
    rules = [
        {"id": kind.code, "shortDescription": {"text": kind.words}, "defaultConfiguration": {"level": kind.level}}
        for kind in VERDICTS.values()
    ]
    driver = {"name": "Plimsoll", "version": own_version(), "rules": rules}
    results = [
        {
            "ruleId": finding.verdict,
            "ruleIndex": list(VERDICTS).index(finding.verdict),
            "level": finding.kind.level,
            "message": {"text": f"{finding.address}: {finding.text}"},
            "locations": [
                {
                    "physicalLocation": {"artifactLocation": {"uri": quote(check.plan)}, "region": {"startLine": 1}},
                    "logicalLocations": [{"fullyQualifiedName": finding.address, "kind": "resource"}],
                }
            ],
            "partialFingerprints": {
                "primaryLocationLineHash": sha256(f"{finding.verdict} {finding.address}".encode()).hexdigest()
            },
        }
        for finding in check.ranking
    ]
    log = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    yield _dump(log)


def markdown_findings(check: PlanCheck) -> Iterator[str]:
    """The findings as Markdown for a comment, the worst first, as long as GitHub takes it."""
    rows = [[name(finding.verdict), name(finding.address), prose(finding.text)] for finding in check.ranking]
    parts = ["## Planned volumes, by their demand\n", f"{prose(check.summary)}\n"]
    yield fitting([*parts, table(("verdict", "in the plan", "why"), rows) if rows else "", f"{prose(check.source)}\n"])


FINDING_PRINTERS: Final[Mapping[str, Callable[[PlanCheck], Iterable[str]]]] = {
    "text": text_findings,
    "json": json_findings,
    "sarif": sarif_findings,
    "md": markdown_findings,
}
"""The formats of findings."""


def _plain_spec(spec: VolumeSpec | None) -> dict[str, Any] | None:
    if spec is None:
        return None
    return {**asdict(spec), "words": spec_text(spec)}


def _dump(document: Mapping[str, Any]) -> str:
    return json.dumps(printable_values(document), ensure_ascii=False, indent=1) + "\n"
