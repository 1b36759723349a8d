"""The groups of templates: what one change of each would do for all the volumes that it made.

A group is a few numbers, however many volumes it has: sums and highest figures, so that parts of a run merge in any
order. Money is in whole millionths of a dollar a month, because a small volume saves fractions of a cent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from plimsoll.reports.record import OwnerRecord, RecommendationRecord, TemplateOfferRecord, TemplateRecord
from plimsoll.reports.run_record import RunRecord, TemplateChange
from plimsoll.reports.wording import count_of, owner_text, usd

_MILLION: Final = 1_000_000
_LEAST_VOLUMES: Final = 2

Key = str
"""What names a group: cloud, account, region, the template, and the type of the volumes, between lines."""


@dataclass(slots=True)
class Offered:
    """The offers of one type in a group: what all of them need together, and what that costs.

    - `highest_iops` and `highest_mib_s` are the most that any of them has; `iops_usd` and `mib_s_usd` are what these
      cost a volume.
    - `most_iops` and `most_mib_s` are what can be bought at the smallest size (None: none are provisioned).
    """

    volumes: int = 0
    size_usd: int = 0
    size_usd_more: int = 0
    highest_iops: int = 0
    highest_mib_s: int = 0
    iops_usd: int = 0
    mib_s_usd: int = 0
    most_iops: int | None = None
    most_mib_s: int | None = None

    def merge(self, other: "Offered") -> None:
        """Adds the offers of other volumes."""
        self.volumes += other.volumes
        self.size_usd += other.size_usd
        self.size_usd_more += other.size_usd_more
        self.highest_iops, self.iops_usd = (
            max(self.highest_iops, other.highest_iops),
            max(self.iops_usd, other.iops_usd),
        )
        self.highest_mib_s, self.mib_s_usd = (
            max(self.highest_mib_s, other.highest_mib_s),
            max(self.mib_s_usd, other.mib_s_usd),
        )
        self.most_iops = _least(self.most_iops, other.most_iops)
        self.most_mib_s = _least(self.most_mib_s, other.most_mib_s)

    @property
    def is_sold(self) -> bool:
        """True if the highest figures of all can be bought at the smallest size."""
        return (self.most_iops is None or self.highest_iops <= self.most_iops) and (
            self.most_mib_s is None or self.highest_mib_s <= self.most_mib_s
        )


@dataclass(slots=True)
class TemplateGroup:
    """The volumes of a template that are judged, in numbers.

    `more` are those of them without a change of their own, `usd_now` and `usd_now_more` what they cost, `minutes` how
    much of them was observed, `together` how many live too short to be judged alone. `held` is how many must stay as
    they are, with the `why` of the first of them by name. `example` is the first volume by name.
    """

    volumes: int = 0
    more: int = 0
    together: int = 0
    held: int = 0
    why: str = ""
    usd_now: int = 0
    usd_now_more: int = 0
    minutes: int = 0
    least_usd: int = 0
    least_hours: float = 0.0
    example: str = ""
    offered: dict[str, Offered] = field(default_factory=dict)

    @classmethod
    def from_volume(cls, record: RecommendationRecord, template: TemplateRecord) -> "TemplateGroup":
        """One volume's part; nothing if it is not judged yet, or has no price."""
        group = cls(least_usd=_millionths(template.least_monthly_usd), least_hours=template.least_hours)
        if template.held is not None:
            group.held, group.why = 1, f"{record.volume_id} {template.held}"
        elif template.offer is not None and template.monthly_usd_now is not None:
            is_more = record.target is None or record.target == record.current
            now = _millionths(template.monthly_usd_now)
            group.volumes, group.more, group.together = 1, int(is_more), int(template.together)
            group.usd_now, group.usd_now_more = now, now * is_more
            group.minutes = 0 if record.demand is None else round(record.demand.hours_observed * 60)
            group.example = record.volume_id
            group.offered[template.offer.spec.type] = _offer_part(template.offer, is_more=is_more)
        return group

    def merge(self, other: "TemplateGroup") -> None:
        """Adds other volumes of the same template."""
        for name in ("volumes", "more", "together", "held", "usd_now", "usd_now_more", "minutes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.least_usd = max(self.least_usd, other.least_usd)
        self.least_hours = max(self.least_hours, other.least_hours)
        self.why = min(filter(None, (self.why, other.why)), default="")
        self.example = min(filter(None, (self.example, other.example)), default="")
        for kind, offered in other.offered.items():
            self.offered.setdefault(kind, Offered()).merge(offered)

    def change(self) -> dict[str, Any] | None:
        """The one change of all, for run.json; None where there is none, or it saves less than is asked for.

        One type has to carry every volume that was judged. It gets the highest figures that any of them needs: more of
        one type never carries less. What has no answer alone needs enough hours of all together.
        """
        if self.held or self.volumes < _LEAST_VOLUMES or len(self.offered) != 1 or not self.more:
            return None
        ((kind, offered),) = self.offered.items()
        if not offered.is_sold or (self.together and self.minutes < self.least_hours * 60):
            return None
        each = offered.iops_usd + offered.mib_s_usd
        saved = self.usd_now - offered.size_usd - self.volumes * each
        beyond = self.usd_now_more - offered.size_usd_more - self.more * each
        if saved < max(1, self.least_usd) or beyond <= 0:
            return None
        return {
            "volumes": self.volumes,
            "volumes_too_small_alone": self.more - self.together,
            "volumes_too_short_alone": self.together,
            "example": self.example,
            "hours_observed": round(self.minutes / 60, 1),
            "target": {
                "type": kind,
                "iops": offered.highest_iops or None,
                "throughput_mib_s": offered.highest_mib_s or None,
            },
            "monthly_usd_now": _dollars(self.usd_now),
            "monthly_usd_then": _dollars(self.usd_now - saved),
            "monthly_usd_saved": _dollars(saved),
            "monthly_usd_saved_beyond_volumes": _dollars(beyond),
        }


def groups_of(record: RecommendationRecord) -> dict[Key, TemplateGroup]:
    """The group of a volume with what it alone brings to it; none where no template is known to have made it."""
    template = record.template
    if template is None:
        return {}
    place = record.provider, record.account, record.region
    key = "\n".join((*place, template.kind, template.name, template.device, record.current.type))
    return {key: TemplateGroup.from_volume(record, template)}


def changes_of(groups: Mapping[Key, TemplateGroup]) -> list[dict[str, Any]]:
    """The changes of templates that are worth it, those first that save most beyond what volumes save alone."""
    changes = []
    for key, group in groups.items():
        change = group.change()
        if change is not None:
            names = ("provider", "account", "region", "kind", "template", "device", "type")
            changes.append({**dict(zip(names, key.split("\n"), strict=True)), **change})
    return sorted(
        changes,
        key=lambda change_data: (-change_data["monthly_usd_saved_beyond_volumes"], *map(str, change_data.values())),
    )


def _offer_part(offer: TemplateOfferRecord, *, is_more: bool) -> Offered:
    size_usd = _millionths(offer.monthly_usd_size)
    return Offered(
        volumes=1,
        size_usd=size_usd,
        size_usd_more=size_usd * is_more,
        highest_iops=offer.spec.iops or 0,
        highest_mib_s=offer.spec.throughput_mib_s or 0,
        iops_usd=_millionths(offer.monthly_usd_iops),
        mib_s_usd=_millionths(offer.monthly_usd_throughput),
        most_iops=offer.most_iops,
        most_mib_s=offer.most_throughput_mib_s,
    )


def _least(first: int | None, second: int | None) -> int | None:
    return min((figure for figure in (first, second) if figure is not None), default=None)


def _millionths(usd: float) -> int:
    return round(usd * _MILLION)


def _dollars(millionths: int) -> float:
    return round(millionths / _MILLION, 2)


# ---- in words

TITLE: Final = "One change for all that a template makes"
WHY: Final = (
    "Most of these volumes save too little alone, or are too short-lived to judge. Change the template, and new "
    "volumes are cheaper. Existing ones follow when they are replaced, or by a change of their own."
)
SHOWN_TEMPLATES: Final = 10
"""How many are shown; run.json has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateText:
    """One change of a template: what makes the volumes and where, what they become, and what that saves.

    `kind` is the kind of owner, and `how` says in a few lines how that one writes it.
    """

    kind: str
    made_by: str
    where: str
    volumes: str
    change: str
    saves: str
    example: str
    how: str


def template_name(record: RecommendationRecord) -> str:
    """The template that made a volume, in words; empty where none is known."""
    template = record.template
    return "" if template is None else _maker_words(template.kind, template.name, template.device)


def template_texts(run: RunRecord) -> Iterator[TemplateText]:
    """The changes of a run that save most, from its run.json; none where an earlier version wrote it."""
    for change in run.templates[:SHOWN_TEMPLATES]:
        target = change.target
        figures = [target.type]
        figures += [f"{target.iops:,} IOPS"] if target.iops else []
        figures += [f"{target.throughput_mib_s:,} MiB/s"] if target.throughput_mib_s else []
        yield TemplateText(
            kind=change.kind,
            made_by=_maker_words(change.kind, change.template, change.device),
            where=f"{change.account}/{change.region}",
            volumes=count_of(change.volumes, "volume"),
            change=f"{change.type} to {', '.join(figures)}",
            saves=_saves(change),
            example=change.example,
            how=_instructions(change),
        )


def _saves(change: TemplateChange) -> str:
    saved, beyond_usd = change.monthly_usd_saved, change.monthly_usd_saved_beyond_volumes
    beyond = "" if saved == beyond_usd else f", {usd(beyond_usd)} of it beyond what volumes save alone"
    return f"saves {usd(saved)} a month{beyond}"


def _maker_words(kind: str, name: str, device: str) -> str:
    return f"{owner_text(OwnerRecord(kind=kind, name=name))} {device}".rstrip()


_KEYS: Final = {
    ("aws", "auto-scaling"): ("  VolumeType: {}", "  Iops: {}", "  Throughput: {}"),
    ("aws", "kubernetes"): ("  type: {}", '  iops: "{}"', '  throughput: "{}"'),
    ("aws", "terraform"): ('  type = "{}"', "  iops = {}", "  throughput = {}"),
    ("google", "auto-scaling"): ("  type: {}", "  provisioned-iops: {}", "  provisioned-throughput: {}"),
    ("google", "kubernetes"): (
        "  type: {}",
        '  provisioned-iops-on-create: "{}"',
        '  provisioned-throughput-on-create: "{}Mi"',
    ),
    ("google", "terraform"): ('  type = "{}"', "  provisioned_iops = {}", "  provisioned_throughput = {}"),
}
"""How a type, IOPS and MiB/s are written where a template is, by cloud and by what the template is."""

_WHERE: Final = {
    "auto-scaling": "In a new version of the template that {name} starts its hosts from, for {device}:",
    "kubernetes": "A StorageClass cannot be changed. Create another one like {name}, with these parameters:",
    "terraform": "In the Terraform of {name}, for its volumes of this type:",
}


def _instructions(change: TemplateChange) -> str:
    target, kind = change.target, change.kind
    figures = target.type, target.iops, target.throughput_mib_s
    keys = _KEYS.get((change.provider, kind), ("  type: {}", "  IOPS: {}", "  MiB/s: {}"))
    lines = [key.format(figure) for key, figure in zip(keys, figures, strict=True) if figure is not None]
    where = _WHERE[kind].format(name=change.template, device=change.device or "its volumes")
    return "\n".join([where, *lines])
