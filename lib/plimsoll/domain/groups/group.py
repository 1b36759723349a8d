"""Groups: volumes that change together, or carry what another does.

A stripe set is one device. A template makes many volumes alike: a launch template or the group that uses it, a
StorageClass, a Terraform module. Volumes of one template in one account and region, of one type, are its group; each
has a part in the group's change (docs/decision.md, section 9).
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
        """The load is spread evenly over the members, so none carries more than its share."""
        return self.level in EVEN_LEVELS

    def __str__(self) -> str:
        return f"{self.name} ({self.level}, {len(self.members)} volumes) on {self.host_id}"


MADE_WITHIN: Final = timedelta(minutes=10)
"""A volume that was made in so much time after its host was started is taken to be made with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The maker of volumes: the tool that owns it, its name there, and which of a host's volumes (empty: any)."""

    kind: OwnerKind
    name: str
    device: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOffer:
    """The offer for one volume of a template if no least saving was asked for, with its price in three parts, USD a
    month.

    `iops_usd` is what the provisioned IOPS cost, `throughput_usd` the provisioned MiB/s, `size_usd` all the rest. At
    the volume's size at most `most_iops` and `most_throughput_mib_s` can be bought; None if none are provisioned.
    """

    spec: VolumeSpec
    size_usd: float
    iops_usd: float
    throughput_usd: float
    most_iops: int | None
    most_throughput_mib_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A volume's part in the change of its template: an offer that carries its demand, or (`held`) why it stays.

    Neither of both: the volume is not judged yet, and has no say. `least_usd_month` is the least saving that its policy
    asks for, and `least_hours` the hours that have to be observed. `together`: it is too new to be judged alone, so
    that it counts only with what the others of its group show.
    """

    template: Template
    least_usd_month: float
    least_hours: float
    offer: PartOffer | None = None
    held: str | None = None
    together: bool = False


def template_of(volume: Volume) -> Template | None:
    """The template that made a volume; None if it is not known, or makes one volume alone."""
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
    """A volume that was made with its host is younger than the hours that an answer of its own needs."""
    template = template_of(volume)
    made_with_its_host = template is not None and template.kind is OwnerKind.AUTO_SCALING
    return made_with_its_host and now - volume.created < timedelta(hours=policy.least_hours)


def _made_with_its_host(volume: Volume) -> bool:
    """The volume is the boot disk of its only host, or was made when that was started."""
    if len(volume.attachments) != 1:
        return False
    attachment = volume.attachments[0]
    started = None if attachment.host is None else attachment.host.running_since
    return (
        attachment.boot or attachment.at_start or (started is not None and abs(volume.created - started) <= MADE_WITHIN)
    )


class ToldBy(StrEnum):
    """The sources that tell of a takeover."""

    TAG = "tag"
    STATEFUL_SET = "stateful-set"
    BLUE_GREEN = "blue-green"
    AUTO_SCALING = "auto-scaling"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """Volumes of one account and region that take over from one another.

    `told_by` is the source that tells so, and `name` what they share there.
    """

    told_by: ToldBy
    name: str
    volumes: tuple[Volume, ...]

    @property
    def is_suspected(self) -> bool:
        return self.told_by is ToldBy.NAME

    def others(self, volume: Volume) -> Iterator[Volume]:
        """Yields the volumes that a volume takes over from. A suspected takeover has only those of other hosts."""
        for other in self.volumes:
            if other.id != volume.id and not (self.is_suspected and _share_a_host(volume, other)):
                yield other


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The busiest of the volumes that a volume takes over from, and the need that a reduction must carry for its sake.

    `ceiling` is what the peer will carry by its own answer. `unknown` says why that is not known; "" if it is.
    """

    takeover: Takeover
    volume: Volume
    need: Need
    ceiling: Ceiling | None = None
    unknown: str = ""


def _share_a_host(volume: Volume, other: Volume) -> bool:
    hosts = sole_host(volume), sole_host(other)
    return hosts[0] is not None and hosts[1] is not None and hosts[0].id == hosts[1].id


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A stripe set to be decided on: all its volumes, and why some of them must stay as they are, by id."""

    stripes: StripeSet
    volumes: Sequence[Volume]
    held: Mapping[str, str]
