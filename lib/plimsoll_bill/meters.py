"""Meters: what a row of a bill counts, told by its usage type, or by its description where it has none.

Descriptions are those of AWS's price list and of a public FOCUS 1.0 sample; Google's are those of its catalog's SKUs.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from plimsoll.clouds.aws.prices import PERFORMANCE, find_usage
from plimsoll.model.market import Meter
from plimsoll.model.units import KIB_PER_MIB


class BilledDimension(NamedTuple):
    """A dimension that is paid for: its title for people and its unit, in which quantities are shown."""

    title: str
    unit: str


BILLED_DIMENSIONS: Final[Mapping[str, BilledDimension]] = {
    "gib": BilledDimension("storage", "GiB-months"),
    "iops": BilledDimension("IOPS", "IOPS-months"),
    "mib_s": BilledDimension("MiB/s", "MiB/s-months"),
    "io": BilledDimension("I/O", "million operations"),
    "snapshot": BilledDimension("snapshots", "GiB-months"),
    "archive": BilledDimension("snapshot archive", "GiB-months"),
    "archive_early": BilledDimension("early deletes from the archive", "GiB"),
    "archive_read": BilledDimension("reads from the archive", "GiB"),
    "fast_restore": BilledDimension("fast snapshot restore", "hours"),
    "requests": BilledDimension("snapshot API requests", "thousands"),
}
"""What is paid for, by the key that a record has."""


def _patterns(flags: re.RegexFlag, *rows: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, flags), name) for pattern, name in rows)


_WORDS: Final = _patterns(
    re.IGNORECASE,
    (r"archive.*retriev|retriev.*archive", "archive_read"),
    (r"archive.*early|early.*archive", "archive_early"),
    (r"snapshot archive|archived? snapshot", "archive"),
    (r"fast snapshot restore|\bDSU\b", "fast_restore"),
    (r"(?:ListChangedBlocks|ListSnapshotBlocks|GetSnapshotBlock|PutSnapshotBlock)", "requests"),
    (r"\bsnapshots?\b.*\bstor|\bstor\w+.*\bsnapshot", "snapshot"),
    (r"I/O requests?\b", "io"),
    (r"\bIOPS-mo(?:nth)?s?\b", "iops"),
    (r"\b(?:[MG]iBps|[MG]i?B/s)-mo(?:nth)?s?\b", "mib_s"),
    (r"\bprovisioned storage\b", "gib"),
)
"""What descriptions call a dimension, in this order: words of archives stand beside those of snapshots."""

_TYPE_CODE: Final = re.compile(r"\b(?:gp2|gp3|io1|io2|st1|sc1)\b", re.IGNORECASE)
_TYPE_WORDS: Final = _patterns(
    re.IGNORECASE,
    (r"magnetic", "standard"),
    (r"throughput optimized", "st1"),
    (r"cold hdd", "sc1"),
    (r"PIOPS|provisioned IOPS", "io1"),
    (r"general purpose", "gp2"),
)
_TYPE_UNSAID: Final = {"iops": "io1", "mib_s": "gp3", "io": "standard"}
"""The type that a description means which names none: io1 is the oldest that sells IOPS."""

_TIER: Final = re.compile(r"\btier ?([23])\b", re.IGNORECASE)

_DISKS: Final[Mapping[str, str]] = {
    "Storage PD": "pd-standard",
    "Balanced PD": "pd-balanced",
    "SSD backed PD": "pd-ssd",
    "Extreme PD": "pd-extreme",
    **{
        f"Hyperdisk {name}": f"hyperdisk-{name.lower().replace(' ', '-')}"
        for name in ("Balanced", "Balanced High Availability", "Extreme", "Throughput", "ML")
    },
}
_DISK: Final = re.compile(
    rf"^(?P<regional>Regional )?(?P<disk>{'|'.join(sorted(_DISKS, key=len, reverse=True))}) "
    r"(?:(?P<part>Throughput(?: Capacity)?|Capacity|IOPS)|(?P<snapshot>Snapshot))(?: in .+)?$"
)
_DISK_PARTS: Final = {"Capacity": "gib", "IOPS": "iops", "Throughput": "mib_s", "Throughput Capacity": "mib_s"}
_ARCHIVED: Final = re.compile(r"\barchive snapshot", re.IGNORECASE)

_LEAST_OF_A_MILLION: Final = 0.001
"""No list has a million operations for less, nor one of them for more."""


def meter_of(provider: str, usage_type: str, description: str, unit: str, list_price: float | None) -> Meter | None:
    """The meter of a row; None if nothing that is known here says it. `provider` is aws, google or another."""
    if provider == "google":
        return _google_meter(description)
    meter = find_usage(usage_type) if provider == "aws" else None
    if provider == "aws" and meter is None and "EBS:" not in usage_type:
        meter = find_usage(description) or _find_worded(description)
    return None if meter is None else meter._replace(scale=_scale(meter.dimension, unit, list_price))


def _find_worded(description: str) -> Meter | None:
    """The meter that the words of a description mean; a type that is not named is that of the dimension."""
    dimension = next((name for words, name in _WORDS if words.search(description)), None)
    if dimension is None or dimension not in PERFORMANCE:
        return dimension and Meter(dimension)  # type: ignore[return-value]  # an empty name is none
    code, tier = _TYPE_CODE.search(description), _TIER.search(description)
    type_ = code[0].lower() if code else _TYPE_UNSAID.get(dimension, "")
    type_ = type_ or next((name for words, name in _TYPE_WORDS if words.search(description)), "")
    return Meter(dimension, type_, int(tier[1]) if tier else 1) if type_ else None


def _google_meter(description: str) -> Meter | None:
    disk = _DISK.match(description)
    if disk is None or _ARCHIVED.search(description):
        return Meter("archive") if _ARCHIVED.search(description) else None
    if disk["snapshot"]:
        return Meter("snapshot")
    return Meter(_DISK_PARTS[disk["part"]], f"{'regional-' if disk['regional'] else ''}{_DISKS[disk['disk']]}")


def _scale(dimension: str, unit: str, list_price: float | None) -> float:
    """The dimension's units in one of the bill's: throughput is sold by the GiB/s, and I/O counted one by one."""
    if dimension == "mib_s" and unit.lower().startswith("gi"):
        return float(KIB_PER_MIB)
    if dimension == "io" and (list_price is None or list_price < _LEAST_OF_A_MILLION):
        return 1e-6
    return 1e-3 if dimension == "requests" and "1000" not in unit.replace(",", "") else 1.0
