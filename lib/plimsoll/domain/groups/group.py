"""Groups: what makes volumes change together, or carry what another does.

A stripe set is one device. A template makes many volumes alike: a launch template or the group that uses it, a
StorageClass, a Terraform module. Volumes of one template in one account and region, of one type, are its group; each
says what it brings to the group's change (docs/decision.md, section 9).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Need
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import OwnerKind, Volume, VolumeSpec, sole_host

EVEN_LEVELS: Final = frozenset({"raid0", "striped"})
"""Levels that spread the load evenly over the members: md's and LVM's names of striping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeSet:
    """Volumes that are one md or LVM device. Their host itself said so on the day `found`.

    `level` is md's or LVM's word for how they are combined. `mounts` are the device's mount points.
    """

    name: str
    account: str
    region: str
    host_id: str
    members: tuple[str, ...]
    level: str
    mounts: tuple[str, ...] = ()
    found: date

    @property
    def even(self) -> bool:
        """Whether the load is spread evenly over the members, so none carries more than its share."""
        return self.level in EVEN_LEVELS

    def __str__(self) -> str:
        return f"{self.name} ({self.level}, {len(self.members)} volumes) on {self.host_id}"


MADE_WITHIN: Final = timedelta(minutes=10)
"""A volume that was made in so much time after its host was started is taken to be made with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What makes volumes: the tool that owns it, its name there, and which of a host's volumes (empty: any)."""

    kind: OwnerKind
    name: str
    device: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOffer:
    """What would be chosen for one volume if no least saving was asked for, with its price in three parts, USD a month.

    `iops_usd` is what the provisioned IOPS cost, `throughput_usd` the provisioned MiB/s, `size_usd` all the rest. At
    the volume's size at most `most_iops` and `most_throughput_mib_s` can be bought; None where none are provisioned.
    """

    spec: VolumeSpec
    size_usd: float
    iops_usd: float
    throughput_usd: float
    most_iops: int | None
    most_throughput_mib_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a volume brings to the change of its template: an offer that carries its own demand, or, `held`, why
    nothing may be changed. Neither of both: the volume is not judged yet, and has no say.

    `least_usd_month` is the least saving that its policy asks for, and `least_hours` the hours that have to be
    observed. `together`: it is too new to be judged alone, so that it counts only with what the others of its group
    show.
    """

    template: Template
    least_usd_month: float
    least_hours: float
    offer: PartOffer | None = None
    held: str | None = None
    together: bool = False


def template_of(volume: Volume) -> Template | None:
    """What made a volume; None where that is not known, or makes one volume alone."""
    owner = volume.owner
    match owner.kind:
        case OwnerKind.AUTO_SCALING if owner.name is not None and _made_with_its_host(volume):
            return Template(kind=owner.kind, name=owner.name, device=volume.attachments[0].device)
        case OwnerKind.KUBERNETES if "storage_class" in owner.details and "cluster" in owner.details:
            name = f"{owner.details['cluster']}/{owner.details['storage_class']}"
            return Template(kind=owner.kind, name=name)
        case OwnerKind.TERRAFORM if owner.name is not None:
            return Template(kind=owner.kind, name=owner.name)
        case _:
            return None


def is_short_lived(volume: Volume, policy: Policy, now: datetime) -> bool:
    """Whether a volume that was made with its host is younger than the hours that an answer of its own needs."""
    template = template_of(volume)
    made_with_its_host = template is not None and template.kind is OwnerKind.AUTO_SCALING
    return made_with_its_host and now - volume.created < timedelta(hours=policy.least_hours)


def _made_with_its_host(volume: Volume) -> bool:
    """Whether it is the boot disk of its only host, or was made when that was started."""
    if len(volume.attachments) != 1:
        return False
    one = volume.attachments[0]
    started = None if one.host is None else one.host.running_since
    return one.boot or one.at_start or (started is not None and abs(volume.created - started) <= MADE_WITHIN)


class ToldBy(StrEnum):
    """What tells that volumes take over from one another."""

    TAG = "tag"
    STATEFUL_SET = "stateful-set"
    BLUE_GREEN = "blue-green"
    AUTO_SCALING = "auto-scaling"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """Volumes of one account and region that take over from one another, and what tells so by which `name`."""

    told_by: ToldBy
    name: str
    volumes: tuple[Volume, ...]

    @property
    def is_suspected(self) -> bool:
        """Whether only names tell so."""
        return self.told_by is ToldBy.NAME

    def others(self, volume: Volume) -> Iterator[Volume]:
        """Those that a volume takes over from; only suspected are those of other hosts."""
        for other in self.volumes:
            if other.id != volume.id and not (self.is_suspected and _share_a_host(volume, other)):
                yield other


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The volume that asks for most of those that one takes over from, and what a reduction must carry for its sake.

    `ceiling` is what the peer will carry by its own answer. `unknown` says why that is not known; "" where it is.
    """

    takeover: Takeover
    volume: Volume
    need: Need
    ceiling: Ceiling | None = None
    unknown: str = ""


def _share_a_host(one: Volume, other: Volume) -> bool:
    hosts = sole_host(one), sole_host(other)
    return hosts[0] is not None and hosts[1] is not None and hosts[0].id == hosts[1].id


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A stripe set to be decided on: all its volumes, and why some of them must stay as they are, by id."""

    stripes: StripeSet
    volumes: Sequence[Volume]
    held: Mapping[str, str]
