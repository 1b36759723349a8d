"""A scene as the naive oracle takes it: plain dictionaries and arrays, without the product or the simulator."""

from typing import Any, Final

import numpy as np

from tests.oracle.days import busy_of, days_of
from tests.oracle.naive import POLICY, sibling_of
from tests.oracle.past import buckets_of
from tests.oracle.published import in_minutes
from tests.oracle.received import observed_minutes, work_of
from tests.oracle.risk import highest_of
from tests.scenes.scene import Scene
from tests.scenes.work import NOW, Time

FIRST_MINUTE: Final = int(NOW.timestamp()) // 86400 * 1440 - 14 * 1440
MINUTES: Final = 14 * 1440 + 9 * 60
WINDOW: Final = Time(np.arange(FIRST_MINUTE, FIRST_MINUTE + MINUTES))

HOSTS: Final = {
    # MB/s and IOPS, baseline and maximum, as DescribeInstanceTypes gives them.
    "m5.4xlarge": (593.75, 593.75, 18_750, 18_750),
    "m5.8xlarge": (850.0, 850.0, 30_000, 30_000),
    "m5.24xlarge": (2375.0, 2375.0, 80_000, 80_000),
    "r5b.24xlarge": (7500.0, 7500.0, 260_000, 260_000),
    "m4.4xlarge": (250.0, 250.0, 16_000, 16_000),
    "m5.xlarge": (143.75, 593.75, 6000, 18_750),
    "m5.2xlarge": (287.5, 593.75, 12_000, 18_750),
    "m5.large": (81.25, 593.75, 3600, 18_750),
    "m3.xlarge": (62.5, 62.5, 4000, 4000),
    "m4.large": (56.25, 56.25, 3600, 3600),
    "t3.medium": (43.375, 260.625, 2000, 11_800),
    "m4.16xlarge": (1250.0, 1250.0, 65_000, 65_000),
}

OPTIONAL: Final = frozenset({"m3.xlarge"})
"""The types with EBS optimization as an option: without it their limits do not apply."""


def minute_of(ago_h: float) -> int:
    """The minute of the window that begins so many hours before NOW."""
    return round(NOW.timestamp() / 60 - 60 * ago_h) - FIRST_MINUTE


def plain_spec(spec: Any) -> dict[str, Any]:
    """A spec as a dictionary."""
    names = ("type", "size_gib", "iops", "throughput_mib_s")
    return {name: getattr(spec, name) for name in names}


def plain_host(scene: Scene) -> dict[str, Any]:
    """A host's limits."""
    names = ("baseline_mb_s", "maximum_mb_s", "baseline_iops", "maximum_iops")
    figures = (None,) * 4 if not scene.ebs_optimized and scene.host in OPTIONAL else HOSTS[scene.host]
    return dict(zip(names, figures, strict=True)) | {"nitro": scene.nitro}


def _credited(spec: Any) -> bool:
    """Whether it is of a size and type of which a balance is published."""
    return spec.type in {"st1", "sc1"} or (spec.type == "gp2" and spec.size_gib < 1000)


def minutes_of(scene: Scene) -> dict[str, Any]:
    """What CloudWatch has of it, minute by minute, while it was there."""
    if scene.does is None:
        return {name: np.full(MINUTES, np.nan) for name in ("read_ops", "write_ops", "read_bytes", "write_bytes")}
    made = scene.does(WINDOW).series()
    since = 0 if scene.was is None else max(0, minute_of(scene.was.until_h))
    if scene.was is not None and not _credited(scene.was.spec):
        made["burst_balance_pct"][:since] = np.nan
    if not _credited(scene.spec):
        made["burst_balance_pct"][since:] = np.nan
    if scene.five_minutes:
        made = {name: _each_five(name, values) for name, values in made.items()}
    if scene.hosts > 1:
        del made["idle_s"]
    if not scene.nitro or scene.hosts > 1 or scene.spec.type == "standard":
        made |= {"iops_exceeded": None, "throughput_exceeded": None}
    return made


def _each_five(name: str, values: Any) -> Any:
    """A series as it is published once in five minutes."""
    found = np.full(len(values), np.nan)
    five = values.reshape(-1, 5)
    found[::5] = five.min(axis=1) if name == "burst_balance_pct" else five.sum(axis=1)
    return found


def described(scene: Scene) -> dict[str, Any]:
    """The volume."""
    epochs = [{"first": 0, "spec": plain_spec(scene.spec)}]
    if scene.was is not None:
        before = {"first": 0, "spec": plain_spec(scene.was.spec)}
        epochs = [before, {"first": minute_of(scene.was.until_h), "spec": plain_spec(scene.spec)}]
    there = scene.does is not None
    return {
        "spec": plain_spec(scene.spec),
        "region": "us-east-1",
        "state": scene.state or ("in-use" if there else "available"),
        "edge": scene.zone != "us-east-1a",
        "boot": False,
        "attachments": scene.hosts if there else 0,
        "hosts": [plain_host(scene)] * scene.hosts if there else [],
        "epochs": epochs,
        "on_host_from": minute_of(scene.attached_h),
        "made": minute_of(scene.created_h),
        "replaced": scene.attached_h < scene.created_h - 1,
        "restored_until": minute_of(scene.created_h - 7 * 24) if scene.restored else None,
        "may_move": bool(
            scene.stopped_h
            or scene.module
            or scene.group
            or scene.takeover
            or (scene.host_was or ("",))[0] not in ("", scene.host)
        ),
        "modifying": scene.was is not None and scene.was.modifying,
        "ran_from": minute_of(min(scene.attached_h, scene.launched_h or scene.attached_h))
        if scene.stopped_h is None
        else None,
    }


def measured_on_host(scene: Scene, others: list[Scene]) -> dict[str, Any]:
    """What CloudWatch measured of its only host: what the scene says, or what follows from what its volumes did.

    A check is raised from 95 % of the maximum on. Each day begins with all credits, and none come back before its end.
    """
    if scene.hosts != 1 or scene.does is None or not scene.nitro:
        return {}
    here = [scene, *(one for one in others if scene.host_id is not None and one.host_id == scene.host_id)]
    said = next((one.measured for one in here if one.measured is not None), None)
    if said is not None:
        return {name: np.asarray(values, dtype=float) for name, values in said(WINDOW).items()}
    done = {one.name: minutes_of(one) for one in here}.values()
    baseline_mb_s, maximum_mb_s, baseline_iops, maximum_iops = HOSTS[scene.host]
    found = {}
    for side, names, unit, baseline, maximum in (
        ("iops", ("read_ops", "write_ops"), 1, baseline_iops, maximum_iops),
        ("mib_s", ("read_bytes", "write_bytes"), 1e6, baseline_mb_s, maximum_mb_s),
    ):
        rate = sum(np.nan_to_num(one[name]) for one in done for name in names) / 60 / unit
        ran = np.logical_or.reduce([~np.isnan(one["read_ops"]) for one in done])
        found[f"{side}_check"] = np.where(ran, rate >= 0.95 * maximum, np.nan)
        if maximum > baseline:
            found[f"{side}_balance"] = np.where(ran, _balance(rate, baseline, maximum), np.nan)
    return found


def _balance(rate: Any, baseline: float, maximum: float) -> Any:
    """What is left of half an hour at the maximum, the least of each five minutes."""
    left = np.full(len(rate), 100.0)
    for minute, spent in enumerate((np.maximum(0, rate - baseline) / (30 * (maximum - baseline))).tolist()):
        before = 100.0 if minute % 1440 == 0 else left[minute - 1]
        left[minute] = max(0.0, before - 100 * spent)
    return np.repeat(left.reshape(-1, 5).min(axis=1), 5)


def past_of(scene: Scene) -> Any:
    """What CloudWatch still has of the time before the window; None of a volume that is attached to nothing."""
    if scene.does is None:
        return None
    first, work = _work_from_its_beginning(scene)
    before = [values[: FIRST_MINUTE - first] for values in work]
    return buckets_of(*before, first, NOW.timestamp(), *_when(scene), policy_of(scene))


def days_of_scene(scene: Scene) -> Any:
    """What it did on each day; None of a volume that is attached to nothing."""
    if scene.does is None:
        return None
    first, work = _work_from_its_beginning(scene)
    return days_of(*work, first, FIRST_MINUTE, NOW.timestamp(), *_when(scene), policy_of(scene))


def busy_of_scene(scene: Scene) -> Any:
    """The busiest hours of its days before the window; None of a volume that is attached to nothing."""
    if scene.does is None:
        return None
    first, work = _work_from_its_beginning(scene)
    return busy_of(*work, first, FIRST_MINUTE, NOW.timestamp(), *_when(scene), policy_of(scene))


def highest_of_scene(scene: Scene) -> Any:
    """The highest minute of each of its days, where they are published: on Nitro, of one host."""
    if scene.does is None or not scene.nitro or scene.hosts != 1:
        return None
    first, work = _work_from_its_beginning(scene)
    return highest_of(*work, first, FIRST_MINUTE, NOW.timestamp(), *_when(scene), policy_of(scene))


def _when(scene: Scene) -> tuple[float, list[float]]:
    """When it was made, and when it was attached (epoch seconds)."""
    return NOW.timestamp() - 3600 * scene.created_h, [NOW.timestamp() - 3600 * scene.attached_h]


def _work_from_its_beginning(scene: Scene) -> tuple[int, list[Any]]:
    """The first minute of the day on which it was made, and operations and bytes from then to the window's end."""
    made_s, (attached_s,) = _when(scene)
    first = int(min(made_s // 86400 * 1440, FIRST_MINUTE))
    series = scene.does(Time(np.arange(first, FIRST_MINUTE + MINUTES))).series() if scene.does else {}
    work = [series["read_ops"] + series["write_ops"], series["read_bytes"] + series["write_bytes"]]
    for values in work:
        values[: max(0, int(-(-attached_s // 60)) - first)] = np.nan
    return first, work


def siblings_of(scene: Scene, others: list[Scene]) -> list[dict[str, Any]]:
    """The work of the others on its host, with what was held back of those that may be changed."""
    found = []
    for other in others:
        if scene.host_id is not None and other.host_id == scene.host_id and other.name != scene.name:
            minutes, _ = in_minutes(minutes_of(other), not other.nitro)
            is_free = not other.excluded
            found.append(
                sibling_of(described(other), minutes_of(other), policy_of(other))
                if is_free
                else work_of(minutes, observed_minutes(minutes))
            )
    return found


def policy_of(scene: Scene) -> dict[str, Any]:
    """The policy with what the scene changes."""
    return {**POLICY, **scene.policy}
