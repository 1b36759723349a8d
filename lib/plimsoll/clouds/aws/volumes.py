"""Volumes: one target's list of them, held against what its hosts say that they have.

An entry that cannot be read costs its own volume and those on the same hosts, whose traffic is not known without it.
Without the permission to read changes, what attached volumes were before is not known, and each is unread by name.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.clouds.aws.endpoints import limit_retries
from plimsoll.clouds.aws.errors import AUDITING, FAILURES, code_of, translate_errors
from plimsoll.clouds.aws.hosts import INSTANCES, Hosts, host_in_edge, name_in
from plimsoll.clouds.aws.instance_answers import InstancesPage, MappedInstance
from plimsoll.clouds.aws.lists import Asker, BadPage, Lost
from plimsoll.clouds.aws.names import VOLUME_ID
from plimsoll.clouds.aws.owners import owner_of
from plimsoll.clouds.aws.trail import Trail, with_past
from plimsoll.clouds.aws.volume_answers import ModificationAnswer, ModificationsPage, VolumeAnswer, VolumesPage
from plimsoll.clouds.common.answers import bad_answer, read_answer
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.common.dated_data import sold_figures, volume_types
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import AccessDenied, BadAnswer, CloudError, VolumeGone
from plimsoll.model.volume import Attachment, Modification, Volume, VolumeSpec
from plimsoll.ports import Target, UnreadVolume

VOLUMES: Final = "ec2:DescribeVolumes"
_MODIFICATIONS: Final = "ec2:DescribeVolumesModifications"
_VOLUMES_A_PAGE: Final = 500
_A_PAGE: Final = 1000
"""Instances in a page of DescribeInstances, at most (Amazon EC2 API Reference, read 2026-11-22)."""

IDS_A_CALL: Final = 200
"""Ids in a filter of a list, or in a call that names its volumes."""

MOST_ASKED_ALONE: Final = 50
"""Volumes that are missing and asked for one by one: more of them at once are a fault, and not deleted volumes."""

NO_SUCH_VOLUME: Final = frozenset({"InvalidVolume.NotFound", "InvalidVolumeID.Malformed"})
_GONE: Final = "deleted meanwhile: {name} in {target} was listed, but EC2 now says that it does not exist."


@dataclass(slots=True, kw_only=True)
class VolumeList:
    """The volumes of a target, from its EC2 client, with what its `trail` tells of their past. Raises CloudError."""

    target: Target
    ec2: Any
    asker: Asker
    trail: Trail | None = None
    purpose: CallPurpose = AUDITING
    _hosts: Hosts = field(init=False)
    _changes: dict[str, Modification | BadAnswer] = field(default_factory=dict, init=False)
    _readable: dict[str, Volume] = field(default_factory=dict, init=False)
    _unread: dict[str, CloudError] = field(default_factory=dict, init=False)
    _seen_again: set[str] = field(default_factory=set, init=False)
    _unknown_changes: BadAnswer | None = field(default=None, init=False)
    _denied_changes: AccessDenied | None = field(default=None, init=False)
    _was_empty: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Knows no host yet."""
        self._hosts = Hosts(self.ec2, self.asker, purpose=self.purpose)

    def read(self) -> Iterator[Volume | UnreadVolume]:
        """Every volume as its page arrives, then again as unread each that cannot be answered without others.

        What is unread, or is not as the hosts have it, is asked for once more by itself.
        """
        try:
            self._changes = self._modifications()
        except AccessDenied as error:
            self._denied_changes = error
        if self.trail is not None:
            self.trail.read()
        yield from self._all()
        mapped = yield from self._map_hosts()
        self._hosts.forget_unread()
        denied = {name for name, error in self._unread.items() if isinstance(error, AccessDenied)}
        again = sorted((self._find_lost(mapped) | set(self._unread)) - denied)
        for chunk in in_chunks(again, IDS_A_CALL):
            yield from self._read_by_id(chunk)
        gone = yield from self._find_gone(name for name in again if name not in self._seen_again)
        mapped = {host_id: names - gone for host_id, names in mapped.items()}
        yield from self._neighbors(mapped)

    def read_named(self, names: Sequence[str]) -> Iterator[Volume | UnreadVolume]:
        """Some volumes by their ids, whatever else is on their hosts; VolumeGone for one that EC2 alone does not have.

        Nothing comes of a name that the list lacks and of which EC2 does not say that it is gone.
        """
        for chunk in in_chunks(names, IDS_A_CALL):
            self._learn_changes(chunk)
            yield from self._read_by_id(chunk)
        yield from self._find_gone(name for name in names if name not in self._seen_again)

    def _all(self) -> Iterator[Volume | UnreadVolume]:
        """Every volume as pages list them. A page that cannot be used costs itself; all, where it is the only one."""
        with translate_errors(f"read {self.target}", VOLUMES, self.purpose):
            for page in self._read_pages(MaxResults=_VOLUMES_A_PAGE):
                if not isinstance(page, BadPage):
                    yield from self._entries(page.volumes)
                elif page.number == 1 and page.is_last:
                    raise page.error
                else:
                    yield UnreadVolume(id=None, error=page.error, what=page.lost_part("the volumes"))

    def _read_by_id(self, names: Sequence[str]) -> Iterator[Volume | UnreadVolume]:
        """Some volumes, asked for by their ids; others in the answer are nobody's."""

        def read(ids: Sequence[str]) -> Iterator[VolumesPage | BadPage]:
            return self._read_pages(Filters=[{"Name": "volume-id", "Values": list(ids)}])

        with translate_errors(f"read {self.target}", VOLUMES, self.purpose):
            for page in self.asker.pages_of(names, read):
                if isinstance(page, Lost):
                    self._seen_again.update(page.names)
                    yield from (self._note(name, page.error) for name in page.names)
                    continue
                entries = [raw for raw in page.volumes if _id_in(raw) in names]
                self._seen_again.update(map(_id_in, entries))
                yield from self._entries(entries, again=True)

    def _read_pages(self, **request: Any) -> Iterator[VolumesPage | BadPage]:
        ask = partial(self.ec2.describe_volumes, IncludeManagedResources=True)
        return self.asker.each_page(VolumesPage, ask, VOLUMES, doubted=self._is_doubtful, **request)

    def _find_gone(self, names: Iterable[str]) -> Generator[UnreadVolume, None, set[str]]:
        """The ids of volumes that EC2 does not have, when asked for each alone."""
        gone = set[str]()
        for name in islice(names, MOST_ASKED_ALONE):
            try:
                with limit_retries(self.asker.deadline):
                    self.ec2.describe_volumes(VolumeIds=[name], IncludeManagedResources=True)
            except ClientError as error:
                if code_of(error) in NO_SUCH_VOLUME:
                    gone.add(name)
            except FAILURES:
                return gone  # nothing is known of the others; the list has said why they are unread
        for name in sorted(gone):
            self._readable.pop(name, None)
            self._unread.pop(name, None)
            yield UnreadVolume(id=name, error=VolumeGone(_GONE.format(name=name, target=self.target)))
        return gone

    def _is_doubtful(self, page: VolumesPage) -> bool:
        """True for a page to be asked for again: an empty one once, always one with what cannot be read or comes
        twice."""
        if not page.volumes and not self._was_empty:
            self._was_empty = True
            return True
        answers = [self._answer(raw) for raw in page.volumes]
        if any(isinstance(answer, BadAnswer) or answer.volume_type not in volume_types(AWS) for answer in answers):
            return True
        return len({_id_in(raw) for raw in page.volumes}) < len(page.volumes)

    def _answer(self, raw: object) -> VolumeAnswer | BadAnswer:
        name = _id_in(raw)
        try:
            place = f"{name} in {self.target}" if name else f"a volume of {self.target}"
            return read_answer(VolumeAnswer, raw, call=VOLUMES, place=place)
        except BadAnswer as error:
            return error

    def _entries(self, entries: Sequence[object], *, again: bool = False) -> Iterator[Volume | UnreadVolume]:
        answers = [(_id_in(raw), self._answer(raw)) for raw in entries]
        if self._unknown_changes is not None:
            self._learn_changes([name for name, _ in answers if name])
        self._hosts.learn(
            where.instance_id
            for _, answer in answers
            if isinstance(answer, VolumeAnswer)
            for where in answer.active_attachments
            if where.instance_id
        )
        on_page: dict[str, Volume] = {}
        for name, answer in answers:
            volume = answer if isinstance(answer, BadAnswer) else self._volume(answer)
            before = on_page.get(name) or (None if again else self._readable.get(name))
            if before is not None and isinstance(volume, Volume) and _born(volume) != _born(before):
                error = self._bad(f"{name} is listed twice, made at two times or in two zones", VOLUMES, name)
                yield UnreadVolume(id=None, error=error, what=f"a volume that is listed as {name}, and another")
                volume = error
            elif isinstance(volume, Volume):
                on_page[name] = volume
            yield self._note(name, volume)

    def _note(self, name: str, volume: Volume | CloudError) -> Volume | UnreadVolume:
        """The volume, or why it is unread, in the place of what was noted before."""
        self._readable.pop(name, None)
        self._unread.pop(name, None)
        if isinstance(volume, Volume):
            self._readable[name] = volume
            return volume
        if not name:
            return UnreadVolume(id=None, error=volume)
        self._unread[name] = volume
        return UnreadVolume(id=name, error=volume)

    def _volume(self, answer: VolumeAnswer) -> Volume | CloudError:
        """The volume, or why it cannot be answered: its hosts or its latest change could not be read."""
        for where in answer.active_attachments:
            if where.instance_id in self._hosts.unread:
                return self._hosts.unread[where.instance_id]
        if answer.active_attachments and self._denied_changes is not None:
            return self._denied_changes
        change = self._changes.get(answer.volume_id)
        if isinstance(change, BadAnswer):
            return change
        volume = volume_of(answer, self.target, self._hosts, change)
        return volume if self.trail is None else with_past(volume, self.trail, self._hosts)

    def _map_hosts(self) -> Generator[UnreadVolume, None, dict[str, frozenset[str]]]:
        """The volumes that each instance of the target says it has."""
        ids_by_host = {host_id: instance.volume_ids for host_id, instance in self._hosts.known.items()}
        with translate_errors(f"read {self.target}", INSTANCES, self.purpose):
            ask = self.ec2.describe_instances
            for page in self.asker.each_page(InstancesPage, ask, INSTANCES, MaxResults=_A_PAGE):
                if isinstance(page, BadPage):
                    if page.number == 1 and page.is_last:
                        raise page.error
                    yield UnreadVolume(id=None, error=page.error, what=page.lost_part("the instances"))
                    continue
                for raw in page.entries:
                    with suppress(BadAnswer):  # it was asked for as a host where a volume names it
                        instance = read_answer(MappedInstance, raw, call=INSTANCES, place=str(self.target))
                        ids_by_host[instance.instance_id] = instance.volume_ids
        return ids_by_host

    def _find_lost(self, mapped: Mapping[str, frozenset[str]]) -> set[str]:
        """The volumes that an instance says it has, and that are not listed, or not as being there."""
        return {name for host_id, names in mapped.items() for name in names if not self._is_on(name, host_id)}

    def _is_on(self, name: str, host_id: str) -> bool:
        volume = self._readable.get(name)
        return volume is not None and any(host.id == host_id for host in volume.hosts)

    def _neighbors(self, mapped: Mapping[str, frozenset[str]]) -> Iterator[UnreadVolume]:
        """The volumes that only hosts have, and the readable volumes on hosts with an unread one.

        A host's traffic is not known without all of its volumes.
        """
        on_hosts: dict[str, list[str]] = {}
        for volume in self._readable.values():
            for host in volume.hosts:
                on_hosts.setdefault(host.id, []).append(volume.id)
        for host_id, names in sorted(mapped.items()):
            missing = sorted(name for name in names if not self._is_on(name, host_id))
            if missing:
                error = self._without(host_id, missing)
                ids = [*(name for name in missing if name not in self._unread), *on_hosts.get(host_id, ())]
                yield from (UnreadVolume(id=name, error=error) for name in ids)

    def _without(self, host_id: str, missing: Sequence[str]) -> BadAnswer:
        names = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        return bad_answer(
            f"{names} on its host {host_id} cannot be read, so that the host's traffic is not known",
            dict.fromkeys(missing, "not readable"),
            call=VOLUMES if any(name in self._unread for name in missing) else INSTANCES,
            place=f"the volumes of {host_id} in {self.target}",
        )

    def _bad(self, what: str, call: str, subject: str) -> BadAnswer:
        return bad_answer(what, what, call=call, place=f"{subject} in {self.target}")

    def _modifications(self) -> dict[str, Modification | BadAnswer]:
        """The latest change of each volume that has one. What is not told is left to be asked for by volume."""
        changes: dict[str, Modification | BadAnswer] = {}
        with translate_errors(f"read {self.target}", _MODIFICATIONS, self.purpose):
            for page in self._read_change_pages(MaxResults=_VOLUMES_A_PAGE):
                if isinstance(page, BadPage):
                    if page.number == 1 and page.is_last:
                        raise page.error
                    self._unknown_changes = page.error
                    continue
                for name, change in self._read_changes(page.entries):
                    if name:
                        changes[name] = change
                    elif isinstance(change, BadAnswer):
                        self._unknown_changes = change  # it might be any volume's
        return changes

    def _learn_changes(self, names: Sequence[str]) -> None:
        """The latest change of each of some volumes, asked for by volume: the list did not tell all."""
        unknown = [name for name in names if name not in self._changes]

        def read(ids: Sequence[str]) -> Iterator[ModificationsPage | BadPage]:
            return self._read_change_pages(Filters=[{"Name": "volume-id", "Values": list(ids)}])

        with translate_errors(f"read {self.target}", _MODIFICATIONS, self.purpose):
            for chunk in in_chunks(unknown, IDS_A_CALL):
                for page in self.asker.pages_of(chunk, lambda ids: self._without_nameless(read(ids))):
                    if isinstance(page, Lost):
                        self._changes |= dict.fromkeys(page.names, page.error)
                    else:
                        self._changes |= {
                            name: change for name, change in self._read_changes(page.entries) if name in chunk
                        }

    def _without_nameless(self, pages: Iterable[ModificationsPage | BadPage]) -> Iterator[ModificationsPage | BadPage]:
        """The pages; one with an entry that names no volume is a bad one."""
        for page in pages:
            entries = [] if isinstance(page, BadPage) else self._read_changes(page.entries)
            bad = next((change for name, change in entries if not name and isinstance(change, BadAnswer)), None)
            yield page if bad is None else BadPage(number=1, error=bad)

    def _read_change_pages(self, **request: Any) -> Iterator[ModificationsPage | BadPage]:
        return self.asker.each_page(
            ModificationsPage,
            self.ec2.describe_volumes_modifications,
            _MODIFICATIONS,
            doubted=lambda page: any(isinstance(change, BadAnswer) for _, change in self._read_changes(page.entries)),
            **request,
        )

    def _read_changes(self, entries: Iterable[object]) -> Iterator[tuple[str, Modification | BadAnswer]]:
        for raw in entries:
            name = _id_in(raw)
            try:
                answer = read_answer(ModificationAnswer, raw, call=_MODIFICATIONS, place=f"{name} in {self.target}")
            except BadAnswer as error:
                yield name, error
                continue
            yield name, answer.modification


def _born(volume: Volume) -> tuple[object, object]:
    """The properties that stay the same of a volume that moves between two pages."""
    return volume.created, volume.zone


def _id_in(raw: object) -> str:
    """The volume's id in an entry, empty where it has none that is one."""
    name = name_in(raw, "VolumeId")
    return name if re.fullmatch(VOLUME_ID, name) else ""


def volume_of(answer: VolumeAnswer, target: Target, hosts: Hosts, modification: Modification | None) -> Volume:
    """The volume in one entry of DescribeVolumes; all its hosts are known. Attachments are in the order of their hosts,
    whatever EC2's is."""
    attachments, host_tags = [], dict[str, str]()
    for where in sorted(answer.active_attachments, key=lambda attachment: attachment.instance_id or ""):
        instance = hosts.known.get(where.instance_id or "")
        device = where.device or ""
        attachments.append(
            Attachment(
                host=host_in_edge(instance.host, answer.edge) if instance else None,
                device=device,
                since=where.attached_at,
                boot=instance is not None and device == instance.root_device,
            )
        )
        host_tags |= dict(instance.host.tags) if instance else {}
    operator = answer.operator.name if answer.operator else None
    resource = next((where.service_resource for where in answer.active_attachments if where.service_resource), None)
    return Volume(
        id=answer.volume_id,
        account=target.account,
        region=target.region,
        zone=answer.availability_zone,
        spec=spec_of(answer),
        state=answer.state,
        created=answer.create_time,
        tags=answer.tag_values,
        attachments=tuple(attachments),
        owner=owner_of(answer.tag_values, host_tags, operator, resource),
        multi_attach=bool(answer.multi_attach_enabled),
        operator=operator,
        modification=modification,
        recent_changes=(modification.started,) if modification else (),
        restored_from=answer.restored_from,
        edge=answer.edge,
    )


def spec_of(answer: VolumeAnswer) -> VolumeSpec:
    """The provisioned configuration. DescribeVolumes gives baseline IOPS for types that provision none: those are
    left out."""
    spec = VolumeSpec(
        type=answer.volume_type, size_gib=answer.size, iops=answer.iops, throughput_mib_s=answer.throughput
    )
    return sold_figures(spec, AWS)
