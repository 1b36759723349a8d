"""Findings: what a run left in its folder, as plain data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The volumes' records and reasons by id, run.json, and what was broken on disk."""

    records: Mapping[str, Record] = field(default_factory=dict)
    unanswered: Mapping[str, Record] = field(default_factory=dict)
    run: Record = field(default_factory=dict)
    broken: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether there is a run at all."""
        return bool(self.run)

    @property
    def failed_targets(self) -> Mapping[str, str]:
        """What could not be read, with the reason."""
        return self.run.get("failures", {}).get("targets", {})

    def name_of(self, volume_id: str) -> str | None:
        """What a volume that was answered is called."""
        return self.records.get(volume_id, {}).get("name")

    def notices_at(self, record: Record) -> frozenset[str]:
        """What the run says of a volume's account and region."""
        place = f"{record['account']}/{record['region']}"
        found = {text for name, texts in self.run.get("notices", {}).items() if place in name for text in texts}
        priced = {reason for name, reason in self.failed_targets.items() if name == f"prices of {place}"}
        return frozenset(found | priced)


def findings_in(folder: Path) -> Findings:
    """What is in a run's folder; none where there is no such folder."""
    broken: list[str] = []
    run = _json(folder / "run.json", broken) or {}
    listed = _json(folder / "recommendations.json", broken) or []
    lines = _lines(folder / "unanswered.jsonl", broken)
    ids = [one["volume_id"] for one in listed]
    broken += [
        f"{name} is in recommendations.json twice" for name in sorted({one for one in ids if ids.count(one) > 1})
    ]
    return Findings(
        records={one["volume_id"]: one for one in listed},
        unanswered={one["volume_id"]: one for one in lines},
        run=run,
        broken=tuple(broken),
    )


def _json(path: Path, broken: list[str]) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except FileNotFoundError:
        return None
    except ValueError as error:
        broken.append(f"{path.name}: {error}")
        return None


def _lines(path: Path, broken: list[str]) -> list[Any]:
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError as error:
            broken.append(f"{path.name}: {error}")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
