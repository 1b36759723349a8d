"""Hosts: instances and what their types can carry, looked up many at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from plimsoll.clouds.aws.errors import AUDITING, translate_errors
from plimsoll.clouds.aws.instance_answers import InstanceAnswer, InstancesPage, InstanceTypeAnswer, InstanceTypesPage
from plimsoll.clouds.aws.lists import ASKED, Asker, BadPage, Lost
from plimsoll.clouds.aws.published_hosts import BURST_S
from plimsoll.clouds.common.answers import bad_answer, read_answer
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import AccessDenied, BadAnswer, CloudError
from plimsoll.model.units import mib_s_from_mb_s
from plimsoll.model.volume import Host, HostLimits

INSTANCES: Final = "ec2:DescribeInstances"
_TYPES: Final = "ec2:DescribeInstanceTypes"
_INSTANCES_A_CALL: Final = 200
_TYPES_A_CALL: Final = 100

NOT_OPTIMIZED: Final = "EBS optimization is optional for its host's type, and is not switched on."


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A host, the device it boots from, the volumes that it says it has, and whether EBS optimization is on."""

    host: Host
    root_device: str | None
    volume_ids: frozenset[str] = frozenset()
    ebs_optimized: bool | None = None


@dataclass(slots=True)
class Hosts:
    """The instances of one account and region, asked for as volumes need them by its EC2 client.

    Those that were not described, or not so that it can be used, are `unread`, each with why: so are all if their types
    may not be described. Raises CloudError, which says what they were wanted for.
    """

    ec2: Any
    asker: Asker
    purpose: CallPurpose = AUDITING
    known: dict[str, Instance] = field(default_factory=dict)
    unread: dict[str, CloudError] = field(default_factory=dict)
    _types: dict[str, InstanceTypeAnswer | CloudError] = field(default_factory=dict)

    def learn(self, instance_ids: Iterable[str]) -> None:
        """Looks up those that are not known yet; what the answer lacks is asked for again before it is unread."""
        wanted = sorted(set(instance_ids) - set(self.known) - set(self.unread))
        for chunk in in_chunks(wanted, _INSTANCES_A_CALL):
            answers: dict[str, InstanceAnswer] = {}
            missing: Sequence[str] = chunk
            for _ in range(ASKED):
                answers |= self._read_answers(missing)
                missing = [name for name in missing if name not in answers]
                if not missing:
                    break
            for name in missing:
                self.unread.setdefault(name, self._bad(f"it has no {name}", None, INSTANCES, name))
            self.take(list(answers.values()))

    def forget_unread(self) -> None:
        """Clears unread hosts and unread types, so that the next need asks for them again."""
        self.unread.clear()
        for name in [name for name, answer in self._types.items() if isinstance(answer, CloudError)]:
            del self._types[name]

    def take(self, answers: Sequence[InstanceAnswer]) -> None:
        """Knows these entries of DescribeInstances from now on."""
        self._learn_types({answer.instance_type for answer in answers})
        for answer in answers:
            host = self._host(answer)
            if isinstance(host, CloudError):
                self.unread[answer.instance_id] = host
                continue
            self.unread.pop(answer.instance_id, None)
            self.known[answer.instance_id] = Instance(
                host=host,
                root_device=answer.root_device_name,
                volume_ids=answer.volume_ids,
                ebs_optimized=answer.ebs_optimized,
            )

    def _host(self, answer: InstanceAnswer) -> Host | CloudError:
        """The host that an instance of a type that was asked for is, or why that cannot be told."""
        kind = self._types[answer.instance_type]
        if isinstance(kind, CloudError):
            return kind
        limits, weighting = limits_of(kind), answer.network_performance_options.bandwidth_weighting
        if limits is not None and weighting != "default":
            network = kind.network_info.baseline_gbit_s
            if weighting == "vpc-1" and network is None:
                what = f"NetworkInfo of {kind.instance_type} has no baseline, and the instance's bandwidth is weighted"
                return self._bad(what, None, _TYPES, answer.instance_id)
            limits = weighted_limits(limits, None if weighting == "ebs-1" else network)
        host = Host(
            id=answer.instance_id,
            type=answer.instance_type,
            limits=limits,
            nitro=kind.is_nitro,
            tags=tuple(answer.tag_values.items()),
            running_since=answer.running_since,
            stopped_since=answer.stopped_since,
        )
        return host if kind.optimizes(answer.ebs_optimized) else host.without_limits(NOT_OPTIMIZED)

    def as_type(self, instance_id: str, type_name: str | None = None) -> Host | None:
        """An instance as a host of that type (None: of its own). None where it, or what its type carries, is not
        described any more."""
        instance = self.known.get(instance_id)
        if type_name is None and instance is None:
            answer = self._read_answers([instance_id]).get(instance_id)
            type_name = None if answer is None else answer.instance_type
        if type_name is None:
            return None if instance is None else instance.host
        self._learn_types({type_name})
        kind = self._types[type_name]
        if isinstance(kind, CloudError):
            return None
        host = Host(id=instance_id, type=type_name, limits=limits_of(kind), nitro=kind.is_nitro)
        optimized = None if instance is None else instance.ebs_optimized
        return host if kind.optimizes(optimized) else host.without_limits(NOT_OPTIMIZED)

    def _read_answers(self, instance_ids: Sequence[str]) -> dict[str, InstanceAnswer]:
        def read(names: Sequence[str]) -> Iterator[InstancesPage | BadPage]:
            filters = [{"Name": "instance-id", "Values": list(names)}]
            return self.asker.each_page(InstancesPage, self.ec2.describe_instances, INSTANCES, Filters=filters)

        entries: list[object] = []
        with translate_errors(f"read {self.asker.place}", INSTANCES, self.purpose):
            for page in self.asker.pages_of(instance_ids, read):
                if isinstance(page, Lost):
                    self.unread |= dict.fromkeys(page.names, page.error)
                else:
                    entries += page.entries
        answers: dict[str, InstanceAnswer] = {}
        for raw in entries:
            name = name_in(raw, "InstanceId")
            try:
                place = f"{name or 'a host'} in {self.asker.place}"
                answer = read_answer(InstanceAnswer, raw, call=INSTANCES, place=place)
                if name in answers and answers[name] != answer:
                    raise self._bad(f"it has {name} twice, and not the same", raw, INSTANCES, name)
                answers[name] = answer
            except BadAnswer as error:
                self.unread[name] = error  # one without a name is missed among those that were asked for
        return answers

    def _learn_types(self, types: set[str]) -> None:
        for chunk in in_chunks(sorted(types - set(self._types)), _TYPES_A_CALL):
            missing: Sequence[str] = chunk
            for _ in range(ASKED):
                try:
                    self._ask_types(missing)
                except AccessDenied as error:
                    self._types |= dict.fromkeys(missing, error)
                    break
                missing = [name for name in missing if isinstance(self._types.get(name), BadAnswer | None)]
                if not missing:
                    break
            for name in missing:
                self._types.setdefault(name, self._bad(f"it has no {name}", None, _TYPES, f"hosts of type {name}"))

    def _ask_types(self, types: Sequence[str]) -> None:
        def read(names: Sequence[str]) -> Iterator[InstanceTypesPage | BadPage]:
            filters = [{"Name": "instance-type", "Values": list(names)}]
            return self.asker.each_page(InstanceTypesPage, self.ec2.describe_instance_types, _TYPES, Filters=filters)

        entries: list[object] = []
        with translate_errors(f"read {self.asker.place}", _TYPES, self.purpose):
            for page in self.asker.pages_of(types, read):
                if isinstance(page, Lost):
                    self._types |= dict.fromkeys(page.names, page.error)
                else:
                    entries += page.instance_types
        for raw in entries:
            name = name_in(raw, "InstanceType")
            place = f"hosts of type {name} in {self.asker.place}"
            try:
                answer = read_answer(InstanceTypeAnswer, raw, call=_TYPES, place=place)
                self._types[answer.instance_type] = answer
            except BadAnswer as error:
                self._types[name] = error

    def _bad(self, what: str, raw: object, call: str, subject: str) -> BadAnswer:
        return bad_answer(what, raw, call=call, place=f"{subject} in {self.asker.place}")


def host_in_edge(host: Host, edge: str | None) -> Host:
    """A host of a volume in an edge (None: in the region itself, of which the figures are that are published)."""
    return host if edge is None else host.without_limits(f"It is in {edge}, where hosts may carry other figures.")


def name_in(raw: object, field_name: str) -> str:
    """The name that an entry of a list has, whether or not the rest can be read; empty where it has none."""
    name = raw.get(field_name) if isinstance(raw, dict) else None
    return name if isinstance(name, str) else ""


def limits_of(instance_type: InstanceTypeAnswer) -> HostLimits | None:
    """The EBS limits of a type of instance, from MB/s into MiB/s; None where it has none."""
    info = instance_type.ebs_info.ebs_optimized_info
    if info is None:
        return None
    return HostLimits(
        baseline_iops=info.baseline_iops,
        baseline_throughput_mib_s=mib_s_from_mb_s(info.baseline_throughput),
        maximum_iops=info.maximum_iops,
        maximum_throughput_mib_s=mib_s_from_mb_s(info.maximum_throughput),
        burst_s=BURST_S,
    )


WEIGHT: Final = 0.25
"""How much of its baseline the favored side gains (ModifyInstanceNetworkPerformanceOptions, botocore 1.44.5: up to that
much). The other loses as many bits; IOPS, and what the favored side carries at most, stay (Amazon EC2 User Guide, "EC2
instance bandwidth weighting configuration", read 2026-11-23)."""

_MB_S_PER_GBIT_S: Final = 125.0


def weighted_limits(limits: HostLimits, network_gbit_s: float | None) -> HostLimits:
    """The limits of a host whose bandwidth is weighted for its network of that baseline, or (None) for EBS."""
    baseline, maximum = limits.baseline_throughput_mib_s, limits.maximum_throughput_mib_s
    if network_gbit_s is None:
        return replace(limits, baseline_throughput_mib_s=min(maximum, (1 + WEIGHT) * baseline))
    less = mib_s_from_mb_s(WEIGHT * network_gbit_s * _MB_S_PER_GBIT_S)
    return replace(
        limits,
        baseline_throughput_mib_s=max(WEIGHT * baseline, baseline - less),
        maximum_throughput_mib_s=max(WEIGHT * baseline, maximum - less),
    )


def described_limits(described: object) -> HostLimits | None:
    """The EBS limits in an entry of DescribeInstanceTypes as it comes; None where it has none. BadAnswer."""
    return limits_of(read_answer(InstanceTypeAnswer, described, call=_TYPES, place="a type of instance"))
