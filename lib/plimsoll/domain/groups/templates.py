"""Templates: what makes many volumes alike, so that one change of it changes all that it makes from then on.

A launch template or the group that uses it, a StorageClass, a Terraform module. Volumes of one template in one account
and region, of one type, are its group. Each says what it brings to the group's change (docs/decision.md, section 9).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import OwnerKind, Volume, VolumeSpec

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
