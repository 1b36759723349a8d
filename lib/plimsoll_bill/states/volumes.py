"""Volumes of a run that nobody uses, or that a slower disk carries."""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from plimsoll.api.replaying import replay
from plimsoll.decide.offers import LATENCY_WORDS
from plimsoll.model.kinds import CountsAs
from plimsoll.model.market import PriceBook, Provisioned, VolumeType
from plimsoll.model.policy import Headroom, Policy
from plimsoll.model.units import KIB_PER_MIB, MINUTE_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord, SpecRecord
from plimsoll.reports.wording import owner_text
from plimsoll_bill.states import rows
from plimsoll_bill.states.facts import SNAPSHOT, VOLUME, LastUse, PlaceFacts, PresentVolume, SnapshotPrices
from plimsoll_bill.states.rows import Lack, StateRecord, lack_owner, lack_reading
from plimsoll_bill.states.snapshots import lack_retention

PARKED: Final = "gp3"
"""The type that keeps a volume of a stopped host: its IOPS and MiB/s cost nothing up to what its price includes."""

HOURS_A_TIB: Final = 6.0
"""How long a change of a full TiB takes about (Amazon EBS User Guide, read 2026-11-22: sometimes over a day)."""


def judge_volume(
    record: RecommendationRecord,
    profile: DemandProfileRecord | None,
    place: PlaceFacts | None,
    *,
    now: datetime,
    policy: Policy,
    book: PriceBook | None,
    types: Mapping[str, VolumeType],
    prices: SnapshotPrices,
) -> StateRecord | None:
    """The state of one volume of a run; None if it is used, or nothing says that it is not.

    `place` are the facts that were read of its account and region; None if none were.
    """
    if place is not None and place.volumes is not None and record.volume_id not in place.volumes:
        return None  # it was deleted since
    volume = None if place is None or place.volumes is None else place.volumes[record.volume_id]
    idle_days, is_attached = policy.idle_days, bool(record.hosts) if volume is None else volume.attached
    if record.kind.money is CountsAs.COST and not (volume is not None and volume.attached):
        return _judge_detached(record, place, volume, now=now, idle_days=idle_days, prices=prices)
    if record.stopped_since is not None and is_attached:
        since = datetime.fromisoformat(record.stopped_since)
        return _judge_stopped(record, volume, since, book, types) if now - since >= timedelta(days=idle_days) else None
    if record.idle_days is not None and record.hosts and is_attached:
        return _judge_idle(record, place, volume, prices)
    return _judge_cold(record, profile, Headroom.from_policy(policy).pct, book, types)


def _base(record: RecommendationRecord, state: str) -> dict[str, object]:
    return {
        "provider": record.provider,
        "account": record.account,
        "region": record.region,
        "state": state,
        "ids": (record.volume_id,),
        "name": record.name,
        "owner": owner_text(record.owner),
        "monthly_usd": record.monthly_usd_now,
    }


def _spec(record: SpecRecord) -> VolumeSpec:
    return VolumeSpec(
        type=record.type, size_gib=record.size_gib, iops=record.iops, throughput_mib_s=record.throughput_mib_s
    )


def park(spec: VolumeSpec, types: Mapping[str, VolumeType]) -> VolumeSpec | None:
    """The spec for as long as nobody uses the volume: gp3 with what its price includes; None if it does not come so."""
    kind = types.get(PARKED)
    if kind is None or not isinstance(kind.iops, Provisioned) or not isinstance(kind.throughput, Provisioned):
        return None
    if not kind.least_size_gib <= spec.size_gib <= kind.most_size_gib:
        return None
    return VolumeSpec(
        type=PARKED, size_gib=spec.size_gib, iops=kind.iops.included, throughput_mib_s=kind.throughput.included
    )


def _judge_stopped(
    record: RecommendationRecord,
    volume: PresentVolume | None,
    since: datetime,
    book: PriceBook | None,
    types: Mapping[str, VolumeType],
) -> StateRecord:
    """On a host that is stopped: its provisioned IOPS first, which can be bought again when the host comes back."""
    spec, now_usd = _spec(record.current), record.monthly_usd_now
    parked = park(spec, types)
    then_usd = None if parked is None or book is None else book.usd_month(parked)
    evidence = (f"every host of it has been stopped since {since:%Y-%m-%d}: {', '.join(record.hosts)}",)
    if parked is None or parked == spec or then_usd is None or now_usd is None or then_usd >= now_usd:
        return StateRecord.model_validate(
            _base(record, rows.STOPPED)
            | {
                "since": f"{since:%Y-%m-%d}",
                "evidence": evidence,
                "action": "ask",
                "lacks": (lack_owner("Only the owner knows whether the host comes back."),),
                "way_back": "start the host",
                "way_back_usd": 0.0,
            }
        )
    lacks = [Lack(code=blocker.code, text=blocker.text) for blocker in record.blockers]
    if len(record.hosts) > 1 or (volume is not None and volume.multi_attach):
        lacks.append(Lack(code=rows.MULTI_ATTACH, text="Multi-Attach is enabled, and its type cannot be changed."))
    back = f"--volume-type {spec.type}" + (f" --iops {spec.iops}" if spec.iops is not None else "")
    back += f" --throughput {spec.throughput_mib_s}" if spec.throughput_mib_s is not None else ""
    modify = f"aws ec2 modify-volume --region {record.region} --volume-id {record.volume_id}"
    return StateRecord.model_validate(
        _base(record, rows.STOPPED)
        | {
            "since": f"{since:%Y-%m-%d}",
            "evidence": evidence,
            "action": "reprovision",
            "target": str(parked),
            "monthly_usd_saved_least": round(now_usd - then_usd, 2),
            "monthly_usd_saved_most": round(now_usd - then_usd, 2),
            "lacks": tuple(lacks),
            "commands": ()
            if lacks
            else (f"{modify} --volume-type {PARKED} --iops {parked.iops} --throughput {parked.throughput_mib_s}",),
            "way_back": f"{modify} {back}; the host may run meanwhile",
            "way_back_usd": 0.0,
            "way_back_hours": round(HOURS_A_TIB * spec.size_gib / 1024, 1),
        }
    )


def _judge_detached(
    record: RecommendationRecord,
    place: PlaceFacts | None,
    volume: PresentVolume | None,
    *,
    now: datetime,
    idle_days: float,
    prices: SnapshotPrices,
) -> StateRecord:
    """Attached to nothing: since when, and by whom it was used last."""
    use = LastUse() if place is None or place.last_uses is None else place.last_uses.get(record.volume_id, LastUse())
    lacks = list(_owner_lacks(record, volume, use, now=now, idle_days=idle_days))
    return _removal(record, place, volume, prices, rows_state=record.action, use=use, lacks=lacks)


def _owner_lacks(
    record: RecommendationRecord, volume: PresentVolume | None, use: LastUse, *, now: datetime, idle_days: float
) -> Iterator[Lack]:
    """The owner's word, where what was read does not stand for it."""
    if volume is not None and volume.tags.get(rows.MAY_DELETE) == "true":
        return
    if "takes-over-detached" in record.reason_codes:
        yield lack_owner("It takes over from others.")
    elif record.owner.kind != "hand":
        yield lack_owner(f"It belongs to {owner_text(record.owner)}, which may keep it on purpose.")
    elif use.at is None:
        yield lack_owner("Since when it has no host is not known.")
    elif now - use.at < timedelta(days=idle_days):
        yield lack_owner(f"It was attached until {use.at:%Y-%m-%d}, which is less than {idle_days:,.0f} days ago.")
    elif not use.host_is_gone:
        yield lack_owner("The host that used it last is not known to be gone.")


def _judge_idle(
    record: RecommendationRecord, place: PlaceFacts | None, volume: PresentVolume | None, prices: SnapshotPrices
) -> StateRecord:
    """Attached to a host that runs, and without one operation: only the owner knows what it stands by for."""
    is_allowed = volume is not None and volume.tags.get(rows.MAY_DELETE) == "true"
    lacks = [] if is_allowed else [lack_owner("It is attached, and may stand by for something.")]
    return _removal(record, place, volume, prices, rows_state=rows.IDLE_VOLUME, use=LastUse(), lacks=lacks)


def _removal(
    record: RecommendationRecord,
    place: PlaceFacts | None,
    volume: PresentVolume | None,
    prices: SnapshotPrices,
    *,
    rows_state: str,
    use: LastUse,
    lacks: list[Lack],
) -> StateRecord:
    """A snapshot, then the delete: never a command without a snapshot and a rule that keeps the volume."""
    is_allowed = volume is not None and volume.tags.get(rows.MAY_DELETE) == "true"
    snapshot_lacks = list(_snapshot_lacks(record, place, use))
    if not is_allowed:
        lacks = [*lacks, *snapshot_lacks, *_retention_lacks(place, volume)]
    kept_usd = prices.gib_month and round(record.current.size_gib * prices.gib_month, 2)
    now_usd = record.monthly_usd_now
    has_snapshot = not snapshot_lacks
    remove = f"aws ec2 delete-volume --region {record.region} --volume-id {record.volume_id}"
    take = f"aws ec2 create-snapshot --region {record.region} --volume-id {record.volume_id}"
    commands = () if has_snapshot else (take,)
    evidence = [f"no operation on {record.idle_days:,} days"] if record.idle_days is not None else []
    if use.at is not None:
        evidence.append(f"its last metrics are of {use.at:%Y-%m-%d}")
    if use.host is not None:
        evidence.append(f"last used by {use.host}{', which is gone' if use.host_is_gone else ''}")
    least = None if now_usd is None or kept_usd is None else max(0.0, now_usd - (0.0 if has_snapshot else kept_usd))
    return StateRecord.model_validate(
        _base(record, rows_state)
        | {
            "since": None if use.at is None else f"{use.at:%Y-%m-%d}",
            "evidence": tuple(evidence),
            "action": "snapshot-and-delete",
            "monthly_usd_saved_least": least if least is None else round(least, 2),
            "monthly_usd_saved_most": now_usd,
            "lacks": tuple(lacks),
            "commands": commands if lacks or record.hosts else (*commands, remove),
            "way_back": "a new volume of the snapshot, slow until each block has been read once",
            "way_back_usd": kept_usd,
        }
    )


def _snapshot_lacks(record: RecommendationRecord, place: PlaceFacts | None, use: LastUse) -> Iterator[Lack]:
    """The lack of a snapshot that has all that was written to the volume."""
    if place is None or place.snapshots is None:
        yield lack_reading("its snapshots", "ec2:DescribeSnapshots")
        return
    chain = [snap for snap in place.lineage(record.volume_id) if snap.completed]
    if not chain:
        yield Lack(code=rows.NO_SNAPSHOT, text="it has no snapshot: take one first.")
    elif use.at is None or chain[-1].started < use.at or record.hosts:
        text = f"its last snapshot is of {chain[-1].started:%Y-%m-%d}, and it may have been written to since."
        yield Lack(code=rows.NO_SNAPSHOT, text=text)


def _retention_lacks(place: PlaceFacts | None, volume: PresentVolume | None) -> Iterator[Lack]:
    if place is None or volume is None:
        yield lack_reading("its tags, and rules of the Recycle Bin", "ec2:DescribeVolumes, rbin:ListRules")
    else:
        yield from lack_retention(place, VOLUME, volume.tags)
        yield from lack_retention(place, SNAPSHOT, {})


def _judge_cold(
    record: RecommendationRecord,
    profile: DemandProfileRecord | None,
    added_pct: float,
    book: PriceBook | None,
    types: Mapping[str, VolumeType],
) -> StateRecord | None:
    """Data that a slower disk carries by replay, for less than what is recommended: shown with what is given up."""
    present, now_usd = types.get(record.current.type), record.monthly_usd_now
    if profile is None or record.demand is None or present is None or now_usd is None or book is None:
        return None
    if record.action not in _JUDGED or record.stripe_set is not None or record.pool or len(record.hosts) != 1:
        return None
    then_usd = now_usd if record.monthly_usd_then is None else record.monthly_usd_then
    offers = [
        (round(usd, 2), kind)
        for kind in types.values()
        if kind.sold and kind.latency < present.latency and not isinstance(kind.iops, Provisioned)
        if kind.least_size_gib <= record.current.size_gib <= kind.most_size_gib
        if (usd := book.usd_month(VolumeSpec(type=kind.name, size_gib=record.current.size_gib))) is not None
        if usd < then_usd and is_carried(record, profile, kind, added_pct)
    ]
    if not offers:
        return None
    least_usd, kind = min(offers, key=lambda offer: (offer[0], offer[1].name))
    others = [f"{other.name} for ${usd:,.2f}" for usd, other in sorted(offers, key=lambda offer: offer[0])[1:]]
    gives_up = [f"it answers in {LATENCY_WORDS[kind.latency]}, not {LATENCY_WORDS[present.latency]}"]
    if kind.durability_pct < present.durability_pct:
        gives_up.append(f"{kind.durability_pct:g} % durable instead of {present.durability_pct:g} %")
    if kind.burst is not None:
        gives_up.append("what runs longer than what was seen spends its burst")
    if not kind.boots:
        gives_up.append("no host can boot from it")
    passes = f"what was seen passes through {kind.name} by replay, with {added_pct:g} % more"
    return StateRecord.model_validate(
        _base(record, rows.COLD)
        | {
            "evidence": (passes, *(f"so it does through {other} a month" for other in others)),
            "action": "migrate",
            "target": f"{kind.name} {record.current.size_gib:,} GiB",
            "monthly_usd_saved_least": round(then_usd - least_usd, 2),
            "monthly_usd_saved_most": round(then_usd - least_usd, 2),
            "gives_up": tuple(gives_up),
            "way_back": f"change it to {_spec(record.current)}",
            "way_back_usd": 0.0,
            "way_back_hours": round(HOURS_A_TIB * record.current.size_gib / 1024, 1),
        }
    )


def is_carried(record: RecommendationRecord, profile: DemandProfileRecord, kind: VolumeType, added_pct: float) -> bool:
    """True if a disk of that kind and the same size holds back nothing of a profile.

    Each span does its work at its highest rate, in one piece: nothing that was seen asks for more of a burst. An
    operation counts as a full one of the kind's size: what is random is charged so.
    """
    demand = record.demand
    if demand is None:
        return False
    factor, iops, mib_s = 1 + added_pct / 100, list[float](), list[float]()
    for place in range(len(profile.length_s)):
        minutes = max(1, profile.length_s[place] // MINUTE_S)
        means = profile.iops[place], profile.throughput_mib_s[place]
        peaks = profile.peak_iops[place], profile.peak_throughput_mib_s[place]
        if None in {*means, *peaks}:
            means, peaks = (0.0, 0.0), (0.0, 0.0)
        if profile.shortest_s[place] > MINUTE_S:
            peaks = demand.peak_iops, demand.peak_throughput_mib_s
        iops += _pack_span(means[0] or 0.0, peaks[0] or 0.0, minutes)
        mib_s += _pack_span(means[1] or 0.0, peaks[1] or 0.0, minutes)
    rates = np.array([iops, mib_s]) * factor
    if kind.io_kib is not None:
        rates[1] = np.maximum(rates[1], rates[0] * kind.io_kib / KIB_PER_MIB)
    replayed = replay(VolumeSpec(type=kind.name, size_gib=record.current.size_gib), rates[0], rates[1])
    return replayed.throttled_minutes == 0 and replayed.hours_observed > 0


def _pack_span(mean: float, peak: float, minutes: int) -> list[float]:
    """The work of a span by minutes: at its highest rate, until it is done."""
    whole = min(minutes, math.ceil(mean * minutes / peak)) if peak > 0 else 0
    return [peak] * whole + [0.0] * (minutes - whole)


_JUDGED: Final = frozenset({"keep", "migrate", "reprovision"})
"""The answers that rest on the whole demand. What throttles, waits or is unknown is no cold data."""
