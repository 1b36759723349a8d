"""EC2's way of asking: lists of ids, filters and pages in the form's fields."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, TypeVar

from cloud_simulator.faults import Refused
from cloud_simulator.paging import page_of
from cloud_simulator.published import Provisioned, VolumeSpec, VolumeType, ebs_types

_PAGE: Final = 500
_LEAST_PAGE: Final = 5
_FILTER_NAME: Final = re.compile(r"Filter\.(\d+)\.Name")

Parameters = Mapping[str, str]
Item = TypeVar("Item")
Fields = Mapping[str, Callable[[Item], Iterable[str]]]
"""An item's values, by the name of the filter that compares them."""


def find_items(asked: Parameters, parameter: str, known: Mapping[str, Item], code: str) -> list[Item]:
    """The items of the ids in a request, or all. Raises Refused with that code if an id is unknown."""
    ids = list_values(asked, parameter)
    if ids and "MaxResults" in asked:
        raise Refused("InvalidParameterCombination", f"The parameters {parameter} and MaxResults exclude each other.")
    for item_id in ids:
        if item_id not in known:
            raise Refused(code, f"The ID '{item_id}' does not exist")
    return [known[item_id] for item_id in ids] if ids else list(known.values())


def apply_filters(
    asked: Parameters, items: Sequence[Item], fields: Fields[Item], tags: Callable[[Item], Iterable[tuple[str, str]]]
) -> list[Item]:
    """The items that pass every filter. Raises Refused if EC2 or this simulator does not know a filter."""
    passing = list(items)
    for name, values in _filters(asked).items():
        has = _field(name, fields, tags)
        if any("*" in value or "?" in value for value in values):
            passing = [
                item for item in passing if any(fnmatchcase(had, value) for had in has(item) for value in values)
            ]
        else:
            passing = [item for item in passing if not values.isdisjoint(has(item))]
    return passing


def page(asked: Parameters, items: Sequence[Item]) -> tuple[Sequence[Item], str | None]:
    """One page of the items, and the token of the next."""
    asked_for = asked.get("NextToken"), asked.get("MaxResults")
    return page_of(items, *asked_for, most=_PAGE, least=_LEAST_PAGE, refusal="InvalidParameterValue")


def list_values(asked: Parameters, prefix: str) -> list[str]:
    """The values of a list of fields: `prefix.1`, `prefix.2`, ..."""
    return [value for key, value in asked.items() if key.startswith(f"{prefix}.")]


def _field(
    name: str, fields: Fields[Item], tags: Callable[[Item], Iterable[tuple[str, str]]]
) -> Callable[[Item], Collection[str]]:
    if name.startswith("tag:"):
        return lambda item: [value for key, value in tags(item) if key == name.removeprefix("tag:")]
    if name == "tag-key":
        return lambda item: [key for key, _ in tags(item)]
    if name not in fields:
        raise Refused("InvalidParameterValue", f"The filter '{name}' is invalid")
    return lambda item: list(fields[name](item))


def _filters(asked: Parameters) -> dict[str, set[str]]:
    numbers = {match.group(1): name for key, name in asked.items() if (match := _FILTER_NAME.fullmatch(key))}
    return {name: set(list_values(asked, f"Filter.{number}.Value")) for number, name in numbers.items()}


_DEFAULT: Final = "gp2"
_MOVED_IOPS: Final = 3000


def spec_of(asked: Parameters, like: VolumeSpec | None = None) -> VolumeSpec:
    """The spec in a request. A missing figure is EC2's default, or that of `like` (a copy's source) if it fits.

    Raises Refused, with EC2's codes, if the spec cannot be bought.
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


def modified_spec(asked: Parameters, before: VolumeSpec) -> VolumeSpec:
    """The spec that a request makes of a volume's own (Amazon EC2 API Reference, ModifyVolume).

    What a volume keeps of a type is kept; a change to gp3, io1 or io2 alone gets 3,000 IOPS, and gp3 125 MiB/s. Raises
    Refused, with EC2's codes, if the spec cannot be bought.
    """
    size_gib = _number(asked, "Size")
    if size_gib is not None and size_gib < before.size_gib:
        raise Refused("InvalidParameterValue", "New size cannot be smaller than existing size")
    type_name = asked.get("VolumeType", before.type)
    kind = ebs_types().get(type_name)
    moves = type_name != before.type and kind is not None and isinstance(kind.iops, Provisioned)
    figures = {"Iops": str(_MOVED_IOPS), **asked} if moves else asked
    return spec_of(figures, like=before)


def _iops(asked: Parameters, kind: VolumeType, size_gib: int, like: VolumeSpec | None) -> int | None:
    asked_iops = _number(asked, "Iops")
    if not isinstance(kind.iops, Provisioned):
        _refuse_value("iops", asked_iops, kind)
        return None
    iops = asked_iops or (like.iops if like is not None else None) or kind.iops.included
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
    asked_mib_s = _number(asked, "Throughput")
    if not isinstance(kind.throughput, Provisioned):
        _refuse_value("throughput", asked_mib_s, kind)
        return None
    throughput = asked_mib_s or (like.throughput_mib_s if like is not None else None) or kind.throughput.included
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


def _within(name: str, value: int, least: int, most: int) -> None:
    if value < least:
        raise Refused("InvalidParameterValue", f"Volume {name} of {value} is too low; minimum is {least}.")
    if value > most:
        raise Refused("InvalidParameterValue", f"Volume {name} of {value} is too high; maximum is {most}.")


def _refuse_value(name: str, value: int | None, kind: VolumeType) -> None:
    if value is not None:
        raise Refused("InvalidParameterCombination", f"The parameter {name} is not supported for {kind.name} volumes.")
