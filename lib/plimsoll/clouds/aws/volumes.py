"""Volumes: one target's list of them, held against what its hosts say that they have.

An entry that cannot be read costs its own volume and those on the same hosts, whose traffic is not known without it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from plimsoll.clouds.aws.ec2_answers import ModificationAnswer, ModificationsPage, VolumeAnswer, VolumesPage
from plimsoll.clouds.aws.errors import attempted
from plimsoll.clouds.aws.hosts import INSTANCES, Hosts, name_in
from plimsoll.clouds.aws.lists import Asker
from plimsoll.clouds.aws.owners import owner_of
from plimsoll.clouds.common.answers import bad_answer, read_answer
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.registry import AWS
from plimsoll.domain.errors import BadAnswer, CloudError
from plimsoll.domain.volume import Attachment, Modification, Volume, VolumeSpec
from plimsoll.ports import Target, UnreadVolume

VOLUMES: Final = "ec2:DescribeVolumes"
_MODIFICATIONS: Final = "ec2:DescribeVolumesModifications"
_VOLUMES_A_PAGE: Final = 500
_IDS_A_CALL: Final = 200


@dataclass(slots=True, kw_only=True)
class VolumeList:
    """The volumes of a target, from its EC2 client. Raises CloudError."""

    target: Target
    ec2: Any
    asker: Asker
    _hosts: Hosts = field(init=False)
    _changes: dict[str, Modification | BadAnswer] = field(default_factory=dict, init=False)
    _readable: dict[str, Volume] = field(default_factory=dict, init=False)
    _unread: dict[str, CloudError] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Knows no host yet."""
        self._hosts = Hosts(self.ec2, self.asker)

    def read(self) -> Iterator[Volume | UnreadVolume]:
        """Every volume as its page arrives, then again as unread each that cannot be answered without others."""
        self._changes = self._modifications()
        paging = {"IncludeManagedResources": True, "MaxResults": _VOLUMES_A_PAGE}
        yield from self._pages(paging)
        lost = sorted(self._on_hosts() - set(self._readable) - set(self._unread))
        for chunk in in_chunks(lost, _IDS_A_CALL):
            filters = [{"Name": "volume-id", "Values": list(chunk)}]
            yield from self._pages({"IncludeManagedResources": True, "Filters": filters})
        yield from self._neighbors()

    def _pages(self, request: Mapping[str, Any]) -> Iterator[Volume | UnreadVolume]:
        with attempted(f"read {self.target}", VOLUMES):
            for page in self.asker.pages(
                VolumesPage, self.ec2.describe_volumes, VOLUMES, doubted=self._has_unreadable, **request
            ):
                yield from self._entries(page.volumes)

    def _has_unreadable(self, page: VolumesPage) -> bool:
        return any(not isinstance(self._answer(raw), VolumeAnswer) for raw in page.volumes)

    def _answer(self, raw: object) -> VolumeAnswer | BadAnswer:
        name = name_in(raw, "VolumeId")
        try:
            place = f"{name} in {self.target}" if name else f"a volume of {self.target}"
            return read_answer(VolumeAnswer, raw, call=VOLUMES, place=place)
        except BadAnswer as error:
            return error

    def _entries(self, entries: Sequence[object]) -> Iterator[Volume | UnreadVolume]:
        answers = [(name_in(raw, "VolumeId"), self._answer(raw)) for raw in entries]
        self._hosts.learn(
            where.instance_id
            for _, one in answers
            if isinstance(one, VolumeAnswer)
            for where in one.attached
            if where.instance_id
        )
        for name, answer in answers:
            yield self._noted(name, answer if isinstance(answer, BadAnswer) else self._volume(answer))

    def _noted(self, name: str, found: Volume | CloudError) -> Volume | UnreadVolume:
        """What was found of a volume, which takes the place of what was found before."""
        self._readable.pop(name, None)
        self._unread.pop(name, None)
        if isinstance(found, Volume):
            self._readable[name] = found
            return found
        if not name:
            return UnreadVolume(id=None, error=found)
        self._unread[name] = found
        return UnreadVolume(id=name, error=found)

    def _volume(self, answer: VolumeAnswer) -> Volume | CloudError:
        """The volume, or why it cannot be answered: its hosts or its latest change could not be read."""
        for where in answer.attached:
            if where.instance_id in self._hosts.unread:
                return self._hosts.unread[where.instance_id]
        change = self._changes.get(answer.volume_id)
        return change if isinstance(change, BadAnswer) else volume_of(answer, self.target, self._hosts, change)

    def _on_hosts(self) -> set[str]:
        """Every volume that a known host says it has."""
        return {name for instance in self._hosts.known.values() for name in instance.volume_ids}

    def _neighbors(self) -> Iterator[UnreadVolume]:
        """What hosts have and no list does, and the readable volumes on hosts with one that is not.

        A host's traffic is not known without all of its volumes.
        """
        for host_id, instance in sorted(self._hosts.known.items()):
            missing = sorted(instance.volume_ids - set(self._readable))
            if not missing:
                continue
            error = self._without(host_id, missing)
            yield from (UnreadVolume(id=name, error=error) for name in missing if name not in self._unread)
            for volume in list(self._readable.values()):
                if any(host.id == host_id for host in volume.hosts):
                    self._unread[volume.id] = error
                    yield UnreadVolume(id=volume.id, error=error)

    def _without(self, host_id: str, missing: Sequence[str]) -> BadAnswer:
        names = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        return bad_answer(
            f"{names} on its host {host_id} cannot be read, so that the host's traffic is not known",
            dict.fromkeys(missing, "not readable"),
            call=VOLUMES if any(name in self._unread for name in missing) else INSTANCES,
            place=f"the volumes of {host_id} in {self.target}",
        )

    def _modifications(self) -> dict[str, Modification | BadAnswer]:
        """The latest change of each volume that has one. BadAnswer for an entry that might be any volume's."""
        found: dict[str, Modification | BadAnswer] = {}
        with attempted(f"read {self.target}", _MODIFICATIONS):
            for page in self.asker.pages(
                ModificationsPage,
                self.ec2.describe_volumes_modifications,
                _MODIFICATIONS,
                doubted=lambda page: any(isinstance(one, BadAnswer) for _, one in self._changed(page.entries)),
                MaxResults=_VOLUMES_A_PAGE,
            ):
                for name, change in self._changed(page.entries):
                    if not name and isinstance(change, BadAnswer):
                        raise change
                    found[name] = change
        return found

    def _changed(self, entries: Iterable[object]) -> Iterator[tuple[str, Modification | BadAnswer]]:
        for raw in entries:
            name = name_in(raw, "VolumeId")
            try:
                one = read_answer(ModificationAnswer, raw, call=_MODIFICATIONS, place=f"{name} in {self.target}")
            except BadAnswer as error:
                yield name, error
                continue
            yield (
                name,
                Modification(state=one.modification_state, started=one.start_time, progress_pct=one.progress),
            )


def volume_of(found: VolumeAnswer, target: Target, hosts: Hosts, modification: Modification | None) -> Volume:
    """The volume in one entry of DescribeVolumes; all its hosts are known."""
    attachments, host_tags = [], dict[str, str]()
    for where in found.attached:
        instance = hosts.known.get(where.instance_id or "")
        device = where.device or ""
        attachments.append(
            Attachment(
                host=instance.host if instance else None,
                device=device,
                since=where.since,
                boot=instance is not None and device == instance.root_device,
            )
        )
        host_tags |= dict(instance.host.tags) if instance else {}
    operator = found.operator.name if found.operator else None
    return Volume(
        id=found.volume_id,
        account=target.account,
        region=target.region,
        zone=found.availability_zone,
        spec=spec_of(found),
        state=found.state,
        created=found.create_time,
        tags=found.tag_values,
        attachments=tuple(attachments),
        owner=owner_of(found.tag_values, host_tags, operator),
        multi_attach=bool(found.multi_attach_enabled),
        operator=operator,
        modification=modification,
        recent_changes=(modification.started,) if modification else (),
    )


def spec_of(found: VolumeAnswer) -> VolumeSpec:
    """What is provisioned. DescribeVolumes gives baseline IOPS for types that provision none: those are left out."""
    spec = VolumeSpec(type=found.volume_type, size_gib=found.size, iops=found.iops, throughput_mib_s=found.throughput)
    return sold_figures(spec, AWS)
