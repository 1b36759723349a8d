"""Volumes of a run that nobody uses, or that a slower disk carries."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from plimsoll.api.replaying import fit_slower, pack_profile
from plimsoll.clouds.aws.assets import SNAPSHOT, VOLUME, LastUse, PlaceFacts, PresentVolume
from plimsoll.clouds.aws.change import modify_line
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.decide.offers import bare_type_offer, find_losses, published_cuts
from plimsoll.model.kinds import COLD, IDLE_VOLUME, STOPPED, CountsAs
from plimsoll.model.market import PriceBook, VolumeType
from plimsoll.model.policy import Headroom, Policy
from plimsoll.model.units import MIB_PER_GIB
from plimsoll.reports.record import BlockerRecord, DemandProfileRecord, RecommendationRecord, StateRecord
from plimsoll.reports.wording import owner_text
from plimsoll_bill.states import records
from plimsoll_bill.states.records import lack_owner, lack_reading, lack_retention, make_record

PARKED: Final = "gp3"
"""The type that keeps a volume of a stopped host: its IOPS and MiB/s cost nothing up to what its price includes."""

SAME_SHARE: Final = 0.01
"""A price file and a run's own price of the same volume differ by no more, or the file's prices are not the run's."""

HOURS_A_TIB: Final = 6.0
"""How long a change of a full TiB takes about (Amazon EBS User Guide, read 2026-11-22: sometimes over a day)."""

_TAKE: Final = {
    AWS: "aws ec2 create-snapshot --region {region} --volume-id {id}",
    GOOGLE: "gcloud compute disks snapshot {name} --project {account} --zone {zone}",
}
_REMOVE: Final = {AWS: "aws ec2 delete-volume --region {region} --volume-id {id}"}
"""The commands of each cloud that take a snapshot and delete a volume: none deletes where nothing keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSubject:
    """A volume of a run with all that its state rests on.

    `place` are the facts that were read of its account and region, and `listed` its region's prices; None if there are
    none.
    """

    record: RecommendationRecord
    profile: DemandProfileRecord | None
    place: PlaceFacts | None
    policy: Policy
    now: datetime
    types: Mapping[str, VolumeType]
    listed: PriceBook | None

    @property
    def book(self) -> PriceBook | None:
        """The prices of its region after discounts; None if they are not those that the run priced it by."""
        run_usd = self.record.monthly_usd_now
        if self.listed is None or run_usd is None:
            return None
        book = replace(self.listed, discounts_pct=self.policy.discounts_pct)
        price = book.usd_month(self.record.current.spec)
        return book if price is not None and abs(price - run_usd) <= max(0.01, SAME_SHARE * run_usd) else None

    @property
    def volume(self) -> PresentVolume | None:
        """The volume as it is now; None if that was not read, or it is gone."""
        return None if self.place is None else (self.place.volumes or {}).get(self.record.volume_id)

    @property
    def is_attached(self) -> bool:
        return bool(self.record.hosts) if self.volume is None else self.volume.is_attached

    @property
    def is_allowed(self) -> bool:
        """True if its owner says that it may be deleted."""
        return self.volume is not None and self.volume.tag_values.get(records.MAY_DELETE) == "true"

    @property
    def last_use(self) -> LastUse:
        known = {} if self.place is None else self.place.last_uses
        return known.get(self.record.volume_id, LastUse())

    def write_command(self, templates: Mapping[str, str]) -> list[str]:
        """The command of its cloud; none if that is not known here."""
        record, template = self.record, templates.get(self.record.provider)
        names = {"region": record.region, "account": record.account, "zone": record.zone, "id": record.volume_id}
        return [] if template is None else [template.format(name=record.name or record.volume_id, **names)]


def judge_volume(subject: VolumeSubject) -> StateRecord | None:
    """The state of one volume; None if it is used or gone, or nothing says that it is not."""
    record, place, idle_span = subject.record, subject.place, timedelta(days=subject.policy.idle_days)
    if place is not None and place.volumes is not None and subject.volume is None:
        return None  # it was deleted since
    if record.kind.money is CountsAs.COST and not (subject.volume is not None and subject.is_attached):
        return _remove(subject, record.action, subject.last_use, list(_owner_lacks(subject)))
    if record.stopped_since is not None and subject.is_attached:
        since = datetime.fromisoformat(record.stopped_since)
        return _park(subject, since) if subject.now - since >= idle_span else None
    if record.idle_days is not None and record.hosts and subject.is_attached:
        word = lack_owner("It is attached, and may stand by for something.")
        return _remove(subject, IDLE_VOLUME, LastUse(), [] if subject.is_allowed else [word])
    return _cool(subject)


def _park(subject: VolumeSubject, since: datetime) -> StateRecord:
    """On a host that is stopped: its provisioned IOPS first, which can be bought again when the host comes back."""
    record, spec, kind = subject.record, subject.record.current.spec, subject.types.get(PARKED)
    fits = kind is not None and kind.least_size_gib <= spec.size_gib <= kind.most_size_gib
    book = subject.book
    offer = bare_type_offer(kind, spec.size_gib, book) if kind and fits and book else None
    saved = None
    if offer is not None and offer.usd_month is not None and record.monthly_usd_now is not None:
        saved = record.monthly_usd_now - offer.usd_month
    fields: dict[str, Any] = {
        "since": f"{since:%Y-%m-%d}",
        "evidence": [f"every host of it has been stopped since {since:%Y-%m-%d}: {', '.join(record.hosts)}"],
        "way_back_usd": 0.0,
    }
    if offer is None or saved is None or saved <= 0:
        lacks = [lack_owner("Only the owner knows whether the host comes back.")]
        return make_record(STOPPED, record, action="ask", lacks=lacks, way_back="start the host", **fields)
    lacks = list(record.blockers)
    if len(record.hosts) > 1 or (subject.volume is not None and subject.volume.multi_attach_enabled):
        lacks.append(
            BlockerRecord(code="multi-attach", text="Multi-Attach is enabled, and its type cannot be changed.")
        )
    return make_record(
        STOPPED,
        record,
        action="reprovision",
        target=str(offer.spec),
        saved=(saved, saved),
        lacks=lacks,
        commands=[modify_line(record.region, record.volume_id, offer.spec)],
        way_back=f"{modify_line(record.region, record.volume_id, spec)}; the host may run meanwhile",
        way_back_hours=round(HOURS_A_TIB * spec.size_gib / MIB_PER_GIB, 1),
        **fields,
    )


def _owner_lacks(subject: VolumeSubject) -> Iterator[BlockerRecord]:
    """The owner's word for what is attached to nothing, where what was read does not stand for it."""
    use, owner = subject.last_use, subject.record.owner
    if subject.is_allowed:
        return
    if "takes-over-detached" in subject.record.reason_codes:
        yield lack_owner("It takes over from others.")
    elif owner.kind != "hand":
        yield lack_owner(f"It belongs to {owner_text(owner)}, which may keep it on purpose.")
    elif use.at is None:
        yield lack_owner("Since when it has no host is not known.")
    elif subject.now - use.at < timedelta(days=subject.policy.idle_days):
        days = f"which is less than {subject.policy.idle_days:,.0f} days ago"
        yield lack_owner(f"It was attached until {use.at:%Y-%m-%d}, {days}.")
    elif not use.host_is_gone:
        yield lack_owner("The host that used it last is not known to be gone.")


def _remove(subject: VolumeSubject, state: str, use: LastUse, lacks: list[BlockerRecord]) -> StateRecord:
    """A snapshot, then the delete: never a command without a snapshot and a rule that keeps the volume."""
    record, no_snapshot = subject.record, list(_snapshot_lacks(subject, use))
    if not subject.is_allowed:
        lacks = [*lacks, *no_snapshot, *_retention_lacks(subject)]
    listed, now_usd = subject.listed, record.monthly_usd_now
    price = None if listed is None else listed.snapshots.gib_month
    kept_usd = None if price is None else record.current.size_gib * price
    least = None if now_usd is None or kept_usd is None else max(0.0, now_usd - (kept_usd if no_snapshot else 0.0))
    evidence = [f"no operation on {record.idle_days:,} days"] if record.idle_days is not None else []
    evidence += [] if use.at is None else [f"its last metrics are of {use.at:%Y-%m-%d}"]
    evidence += [] if use.host is None else [f"last used by {use.host}{', which is gone' if use.host_is_gone else ''}"]
    return make_record(
        state,
        record,
        action="snapshot-and-delete",
        since=None if use.at is None else f"{use.at:%Y-%m-%d}",
        evidence=evidence,
        saved=(least, now_usd),
        lacks=lacks,
        first=subject.write_command(_TAKE) if no_snapshot else (),
        commands=() if record.hosts else subject.write_command(_REMOVE),
        way_back="a new volume of the snapshot, slow until each block has been read once",
        way_back_usd=kept_usd,
    )


def _snapshot_lacks(subject: VolumeSubject, use: LastUse) -> Iterator[BlockerRecord]:
    """The lack of a snapshot that has all that was written to the volume."""
    if subject.place is None or subject.place.snapshots is None:
        yield lack_reading("its snapshots", "ec2:DescribeSnapshots")
        return
    chain = [snap for snap in subject.place.lineages.get(subject.record.volume_id, ()) if snap.is_completed]
    if not chain:
        yield BlockerRecord(code=records.NO_SNAPSHOT, text="it has no snapshot: take one first.")
    elif use.at is None or chain[-1].started < use.at or subject.record.hosts:
        text = f"its last snapshot is of {chain[-1].started:%Y-%m-%d}, and it may have been written to since."
        yield BlockerRecord(code=records.NO_SNAPSHOT, text=text)


def _retention_lacks(subject: VolumeSubject) -> Iterator[BlockerRecord]:
    if subject.place is None or subject.volume is None:
        yield lack_reading("its tags, and rules of the Recycle Bin", "ec2:DescribeVolumes, rbin:ListRules")
    else:
        yield from lack_retention(subject.place, VOLUME, subject.volume.tag_values)
        yield from lack_retention(subject.place, SNAPSHOT, {})


_JUDGED: Final = frozenset({"keep", "migrate", "reprovision"})
"""The answers that rest on the whole demand. What throttles, waits or is unknown is no cold data."""


def _cool(subject: VolumeSubject) -> StateRecord | None:
    """Data that a slower disk carries by replay, for less than what is recommended: shown with what is given up."""
    record, now, now_usd = subject.record, subject.record.current.spec, subject.record.monthly_usd_now
    present, profile, book = subject.types.get(now.type), subject.profile, subject.book
    if book is None or present is None or profile is None or record.demand is None or now_usd is None:
        return None
    if record.action not in _JUDGED or record.stripe_set is not None or record.pool or len(record.hosts) != 1:
        return None
    then_usd = now_usd if record.monthly_usd_then is None else record.monthly_usd_then
    added_pct = Headroom.from_policy(subject.policy).pct
    packed = pack_profile(record, profile, added_pct)
    offers = [
        (usd, kind, spec)
        for kind in subject.types.values()
        if kind.sold and kind.latency < present.latency and kind.zones == present.zones
        if kind.least_size_gib <= now.size_gib <= kind.most_size_gib
        if (spec := fit_slower(kind, now.size_gib, packed)) is not None
        if (usd := book.usd_month(spec)) is not None and usd < then_usd
    ]
    if not offers:
        return None
    (least_usd, kind, spec), *others = sorted(offers, key=lambda offer: (offer[0], offer[1].name))
    cuts = published_cuts(now, spec, subject.types)
    gives_up = [loss.text for loss in find_losses(now, spec, subject.types, cuts)]
    gives_up += [f"its limit of {unit} is lower" for unit in cuts]
    for is_lost, words in (
        (kind.burst is not None, "what runs longer than what was seen spends its burst"),
        (not kind.boots, "no host can boot from it"),
        (kind.pooled, f"it shares its limits with the other {kind.name} of its host"),
        (not kind.in_place, "it is a new disk of a snapshot: its host stops using the old one meanwhile"),
    ):
        gives_up += [words] if is_lost else []
    passes = f"what was seen passes through {kind.name} by replay, with {added_pct:g} % more"
    return make_record(
        COLD,
        record,
        action="migrate",
        evidence=[passes, *(f"so it does through {other.name} for ${usd:,.2f} a month" for usd, other, _ in others)],
        target=str(spec),
        saved=(then_usd - least_usd, then_usd - least_usd),
        gives_up=gives_up,
        way_back=f"change it to {now}" if kind.in_place else f"a new disk of a snapshot of it, as {now}",
        way_back_usd=0.0 if kind.in_place else None,
        way_back_hours=round(HOURS_A_TIB * now.size_gib / MIB_PER_GIB, 1) if kind.in_place else None,
    )
