"""All scenes in one simulated account, which is served in this process and audited once."""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from cloud_simulator.aws import signals
from cloud_simulator.aws.cloudwatch import UNEVEN, USUAL_STATS, CloudWatch
from cloud_simulator.aws.fleet import Fleet, SimulatedHost, SimulatedVolume, in_five_minutes
from cloud_simulator.aws.server import Front, serve
from cloud_simulator.aws.volume_maker import change
from cloud_simulator.metrics.history import History
from cloud_simulator.metrics.workloads import Archetype, Workload
from cloud_simulator.running import Running
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.decide.groups import StripeSet
from plimsoll.model.ceiling import LatencyClass
from plimsoll.model.policy import ANY_RISK_PCT, HeadroomFrom, Override, Policy, SizeOn, TagMatch
from plimsoll.model.volume import Host, Seen
from plimsoll.orders import Order
from plimsoll.settings import Settings
from tests.builders import a_host
from tests.scenes.scene import MEASURED, Scene
from tests.scenes.work import KIB, NOW, Time
from tests.unit.reports.plain_runs import carry_out_plain as carry_out

ACCOUNT, REGION = "111111111111", "us-east-1"
TAG: Final = "scene"
_DUMMY: Final = Workload(archetype=Archetype.IDLE, seed=0, low_iops=0, high_iops=0)
_KINDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "size_on": SizeOn,
    "headroom_from": HeadroomFrom,
    "latency_floor": lambda word: LatencyClass[word.upper().replace("-", "_")],
    "target_types": tuple,
}


def fleet_of(scenes: Sequence[Scene]) -> Fleet:
    """The account with a volume for each scene."""
    volumes = tuple(_volume(scene) for scene in scenes)
    started = {
        host.id: NOW - timedelta(hours=scene.launched_h or scene.attached_h, minutes=1)
        for scene, volume in zip(scenes, volumes, strict=True)
        for host in volume.hosts
    }
    return Fleet(now=NOW, accounts=(ACCOUNT,), regions=(REGION,), volumes=volumes, launched=started)


def _volume(scene: Scene) -> SimulatedVolume:
    tags = {"Name": scene.name, TAG: scene.name} | ({"plimsoll:exclude": "true"} if scene.excluded else {})
    tags |= {"ManagedBy": "Terraform", "terraform-module": scene.module} if scene.module else {}
    tags |= scene.tags
    there = scene.does is not None
    hosts = tuple(
        SimulatedHost(
            id=f"i-{_hex(f'{scene.host_id or scene.name}/{number}')}",
            type=scene.host,
            nitro=scene.nitro,
            five_minutes=scene.five_minutes,
            ebs_optimized=scene.ebs_optimized,
            stopped=None if scene.stopped_h is None else NOW - timedelta(hours=scene.stopped_h),
            tags=(("aws:autoscaling:groupName", scene.group),) if scene.group else (),
        )
        for number in range(scene.hosts if there else 0)
    )
    was, modification = scene.was, None
    if was is not None:
        state, progress = ("optimizing", 40) if was.modifying else ("completed", 100)
        modification = change(state, NOW - timedelta(hours=was.until_h), progress, was.spec)
    return SimulatedVolume(
        id=f"vol-{_hex(scene.name)}",
        account=ACCOUNT,
        region=REGION,
        zone=scene.zone,
        spec=scene.spec,
        created=NOW - timedelta(hours=scene.created_h),
        state=scene.state or ("in-use" if there else "available"),
        tags=tuple(tags.items()),
        hosts=hosts,
        attached=NOW - timedelta(hours=scene.attached_h) if there else None,
        stripe=scene.stripe,
        multi_attach=scene.hosts > 1,
        modification=modification,
        snapshot="snap-0123456789abcdef0" if scene.restored else "",
        workload=_DUMMY if there else None,
    )


def _hex(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:17]


def policy_of(scenes: Sequence[Scene]) -> Policy:
    """The usual policy for whoever takes any risk, with what single scenes want by their tag."""
    overrides = [
        Override(
            match=TagMatch(tag=TAG, value=scene.name),
            policy={key: _KINDS.get(key, lambda value: value)(value) for key, value in scene.policy.items()},
        )
        for scene in scenes
        if scene.policy
    ]
    return Policy(risk_pct=ANY_RISK_PCT, overrides=tuple(overrides))


def stripes_of(fleet: Fleet) -> tuple[StripeSet, ...]:
    """The stripe sets, as their hosts said."""
    members: dict[tuple[str, str], list[str]] = {}
    for volume in fleet.volumes:
        if volume.stripe is not None:
            members.setdefault((volume.hosts[0].id, volume.stripe), []).append(volume.id)
    return tuple(
        StripeSet(
            name=name,
            account=ACCOUNT,
            region=REGION,
            host_id=host_id,
            members=tuple(sorted(ids)),
            level="raid0",
            found=(NOW - timedelta(days=2)).date(),
        )
        for (host_id, name), ids in members.items()
    )


def _with_means(made: dict[str, Any]) -> dict[str, Any]:
    """The series with the mean rates that are published beside the checks, absent where those never arrive."""
    absent = np.where(np.isnan(made["iops_exceeded"]), np.nan, 0.0) / 60
    made["mean_iops"] = (made["read_ops"] + made["write_ops"]) / 60 + absent
    made["mean_kib_s"] = (made["read_bytes"] + made["write_bytes"]) / KIB / 60 + absent
    return made


@contextmanager
def served(scenes: Sequence[Scene]) -> Iterator[Running]:
    """The account on loopback; what each volume did is what its scene says."""
    fleet = fleet_of(scenes)
    does = {f"vol-{_hex(scene.name)}": scene.does for scene in scenes}

    def minutes(volume: SimulatedVolume, first: int, count: int) -> dict[str, Any]:
        work = does[volume.id]
        if work is None:
            raise ValueError(f"{volume.id} does nothing")
        made = _with_means(work(Time(np.arange(first, first + count))).series())
        made["burst_balance_pct"] = volume.while_balanced(made["burst_balance_pct"], first)
        return in_five_minutes(made) if any(host.five_minutes for host in volume.hosts) else made

    said = {
        host.id: scene.measured
        for scene, volume in zip(scenes, fleet.volumes, strict=True)
        for host in volume.hosts
        if scene.measured is not None
    }

    def of_host(metric: str, host: Any, volumes: Any, each: Any, first: int) -> Any:
        if host.id not in said:
            return signals.of_host(metric, host, volumes, each)
        found = said[host.id](Time(np.arange(first, first + len(each(volumes[0], "read_ops")))))
        made = next((values for name, values in found.items() if MEASURED[name] == metric), None)
        if made is None or "Balance" not in metric:
            return made
        return np.where(np.arange(len(made)) % signals.BALANCE_MINUTES == 0, made, np.nan)

    cloudwatch = CloudWatch(fleet, clock=NOW.timestamp, history=History(minutes, USUAL_STATS, UNEVEN), of_host=of_host)
    front = Front(fleet, cloudwatch)
    server = serve(front)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Running(endpoint=f"http://127.0.0.1:{server.server_port}", fleet=fleet)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        front.close()


@dataclass(frozen=True)
class KnownHosts:
    """An inventory with what earlier audits saw of hosts: which type each was, and until how many hours ago."""

    inventory: Any
    were: Mapping[str, tuple[str, float]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inventory, name)

    def volumes(self, target: Any) -> Iterator[Any]:
        """The volumes of a target."""
        for volume in self.inventory.volumes(target):
            here = [host for host in getattr(volume, "hosts", ()) if host.id in self.were]
            yield replace(volume, seen=tuple(self._seen(here[0]))) if here else volume

    def _seen(self, host: Host) -> Iterator[Seen]:
        type_name, ago_h = self.were[host.id]
        before = replace(host, type=type_name, limits=a_host(type_name).limits)
        yield Seen(at_s=int(NOW.timestamp()) - 20 * 86400, hosts=(before,))
        yield Seen(at_s=int(NOW.timestamp() - 3600 * ago_h), hosts=(host,), made=True)


def _hosts_of(scenes: Sequence[Scene], fleet: Fleet) -> dict[str, tuple[str, float]]:
    pairs = zip(scenes, fleet.volumes, strict=True)
    return {host.id: one.host_was for one, volume in pairs for host in volume.hosts if one.host_was is not None}


def audited(
    scenes: Sequence[Scene], folder: Path, *, every_minute: bool = False
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The records of all scenes by name, and the run, from one audit by the ordinary path over HTTP."""
    with served(scenes) as running:
        order = Order(folder=folder, scope={}, policy=policy_of(scenes), now=NOW, every_minute=every_minute)
        with patch.dict(os.environ, running.environment):
            ledger = Ledger(path=folder / "ledger.json")
            ports = ports_of(Scope(regions=(REGION,)), Settings(), today=NOW.date(), ledger=ledger, paced=False)
            known = _hosts_of(scenes, running.fleet)
            ports = [
                replace(one, stripes=stripes_of(running.fleet), inventory=KnownHosts(one.inventory, known))
                for one in ports
            ]
            run, _ = carry_out(order, ports, lambda _progress, _outcome: None)
    found = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    return {one["name"]: one for one in found}, run
