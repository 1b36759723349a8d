"""Audits by the state machine and by the command line's own path, and what they came to."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import duckdb

from plimsoll.policy_file import parse_policy
from tests.pipelines.in_process import audited

from .account import Execution
from .deployment import Deployed

MACHINE: Final = "plimsoll-main-audit"
ALIKE: Final = ("status", "policy", "volumes", "actions", "monthly_usd", "failures", "notices", "prices")
"""What of run.json is the same whoever audits, and however often it was begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """run.json and the recommendations by volume."""

    run: Mapping[str, Any]
    recommendations: Mapping[tuple[str, str, str], Any]

    @property
    def told(self) -> dict[str, Any]:
        """What of the run does not hang on who carried it out."""
        return {key: self.run[key] for key in ALIKE}


def run_audit(service: Deployed, name: str, *, within_s: float = 900.0, **given: Any) -> Execution:
    """One execution of the audit."""
    return service.account.end(service.account.begin(MACHINE, name, given), within_s=within_s)


def by_machine(service: Deployed, run_id: str) -> Audit:
    """What an audit of the state machine has reported."""
    run = json.loads(service.content(f"reports/{run_id}/run.json"))
    return Audit(run=run, recommendations=_by_volume(service.content(f"reports/{run_id}/recommendations.json")))


def by_command(service: Deployed, run_id: str, folder: Path) -> Audit:
    """What the command line's own path finds in the same accounts at the same time, by the same policy and settings."""
    order = json.loads(service.content(f"reports/{run_id}/run.json"))
    now = datetime.fromisoformat(order["now"])
    with patch.dict(os.environ, service.function("audit_batch").variables):
        run = audited(service.account.organization, folder, now, parse_policy(order["policy"]))
    return Audit(run=run, recommendations=_by_volume((folder / "recommendations.json").read_bytes()))


def in_tables(service: Deployed, run_id: str, table: str, folder: Path) -> duckdb.DuckDBPyRelation:
    """The rows of a run in one of the Parquet tables."""
    keys = [key for key in service.keys(f"runs/{table}/") if f"/{run_id}-" in key]
    for key in keys:
        (folder / key.replace("/", "_")).write_bytes(service.content(key))
    return duckdb.read_parquet([str(folder / key.replace("/", "_")) for key in keys])


def _by_volume(content: bytes) -> dict[tuple[str, str, str], Any]:
    return {(found["account"], found["region"], found["volume_id"]): found for found in json.loads(content)}
