"""Specs as EC2 takes them: what a request for a new volume may say, and what stands for what it does not."""

from typing import Final

from cloud_simulator.aws.ec2_request import Parameters
from cloud_simulator.faults import Refused
from cloud_simulator.published import Provisioned, VolumeSpec, VolumeType, ebs_types

_DEFAULT: Final = "gp2"


def spec_of(asked: Parameters, like: VolumeSpec | None = None) -> VolumeSpec:
    """The spec in a request; what it does not say is as EC2 has it, or as `like` (a copy's source) where that fits.

    Refused, with EC2's codes, for what cannot be bought.
    """
    type_name = asked.get("VolumeType", _DEFAULT if like is None else like.type)
    kind = ebs_types().get(type_name)
    if kind is None:
        raise Refused("UnknownVolumeType", f"Unknown volume type '{type_name}'.")
    size_gib = _number(asked, "Size")
    if size_gib is None and like is not None:
        size_gib = like.size_gib
    if size_gib is None:
        raise Refused("MissingParameter", "The request must contain the parameter size or snapshotId")
    if like is not None and size_gib < like.size_gib:
        raise Refused("InvalidParameterValue", f"A copy cannot be smaller than its source of {like.size_gib}GiB.")
    _within("size", size_gib, kind.least_size_gib, kind.most_size_gib)
    same = like if like is not None and like.type == type_name else None
    iops = _iops(asked, kind, size_gib, same)
    return VolumeSpec(
        type=type_name, size_gib=size_gib, iops=iops, throughput_mib_s=_throughput(asked, kind, size_gib, iops, same)
    )


def _iops(asked: Parameters, kind: VolumeType, size_gib: int, like: VolumeSpec | None) -> int | None:
    given = _number(asked, "Iops")
    if not isinstance(kind.iops, Provisioned):
        _not_given("iops", given, kind)
        return None
    iops = given or (like.iops if like is not None else None) or kind.iops.included
    if not iops:
        raise Refused("MissingParameter", f"The parameter iops must be specified for {kind.name} volumes.")
    _within("iops", iops, kind.iops.least, kind.iops.most)
    if iops > kind.iops.most_at(size_gib):
        raise Refused(
            "InvalidParameterCombination",
            f"Iops to volume size ratio of {iops / size_gib:f} is too high; maximum is {kind.iops.per_gib:f}.",
        )
    return iops


def _throughput(
    asked: Parameters, kind: VolumeType, size_gib: int, iops: int | None, like: VolumeSpec | None
) -> int | None:
    given = _number(asked, "Throughput")
    if not isinstance(kind.throughput, Provisioned):
        _not_given("throughput", given, kind)
        return None
    throughput = given or (like.throughput_mib_s if like is not None else None) or kind.throughput.included
    _within("throughput", throughput, kind.throughput.least, kind.throughput.most)
    if iops is not None and throughput > kind.throughput.most_at(size_gib, iops):
        raise Refused(
            "InvalidParameterCombination",
            f"Throughput (MiBps) to iops ratio of {throughput / iops:f} is too high; maximum is "
            f"{kind.throughput.per_iops:f} MiBps per iops.",
        )
    return throughput


def _number(asked: Parameters, name: str) -> int | None:
    if name not in asked:
        return None
    if not asked[name].isdecimal():
        raise Refused("InvalidParameterValue", f"Value ({asked[name]}) for parameter {name.lower()} is invalid.")
    return int(asked[name])


def _within(name: str, given: int, least: int, most: int) -> None:
    if given < least:
        raise Refused("InvalidParameterValue", f"Volume {name} of {given} is too low; minimum is {least}.")
    if given > most:
        raise Refused("InvalidParameterValue", f"Volume {name} of {given} is too high; maximum is {most}.")


def _not_given(name: str, given: int | None, kind: VolumeType) -> None:
    if given is not None:
        raise Refused("InvalidParameterCombination", f"The parameter {name} is not supported for {kind.name} volumes.")
