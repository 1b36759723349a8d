"""All of Google's scenes in one simulated project, which is served in this process and audited once."""

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from cloud_simulator.google.fleet import GoogleFleet, SimulatedDisk
from cloud_simulator.google.projects import DiskMaker
from cloud_simulator.google.serving import Cloud, serve
from cloud_simulator.running import RunningProjects
from plimsoll.model.policy import ANY_RISK_PCT, Policy
from tests.pipelines.in_process import audited_projects
from tests.scenes.google_table import GoogleScene
from tests.scenes.work import NOW

PROJECT, REGION = "plimsoll-scenes", "us-central1"
KNOWN: Final = {one.name for one in fields(SimulatedDisk)}
"""What the simulator can say of a disk."""


def fleet_of(scenes: Sequence[GoogleScene]) -> GoogleFleet:
    """The project with the machines and disks of all scenes."""
    maker = DiskMaker(NOW, PROJECT, REGION, 7)
    more: dict[str, dict[str, Any]] = {}
    for scene in scenes:
        maker.lay_out(scene.steps)
        more |= {step["disk"]: scene.disk for step in scene.steps if "disk" in step and scene.disk}
    disks = tuple(
        replace(disk, **{name: value for name, value in more.get(disk.name, {}).items() if name in KNOWN})
        for disk in maker.disks
    )
    return GoogleFleet(now=NOW, accounts=(PROJECT,), regions=(REGION,), volumes=disks)


def audited(scenes: Sequence[GoogleScene], folder: Path) -> dict[str, dict[str, Any]]:
    """The records of all disks by name, from one audit by the ordinary path over HTTP and gRPC."""
    fleet = fleet_of(scenes)
    with serve(Cloud(fleet, clock=NOW.timestamp)) as (port, monitoring_port):
        there = RunningProjects(url=f"http://127.0.0.1:{port}", monitoring=f"127.0.0.1:{monitoring_port}", fleet=fleet)
        audited_projects(there, folder, NOW, Policy(risk_pct=ANY_RISK_PCT))
    found = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    return {one["name"]: one for one in found}
