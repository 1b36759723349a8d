"""The table of a run: recommendations.csv, which a spreadsheet opens as text and figures and never as formulas."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

COLUMNS: Final = (
    ("account", "account"),
    ("region", "region"),
    ("volume_id", "volume_id"),
    ("name", "name"),
    ("action", "action"),
    ("current_type", "current.type"),
    ("current_size_gib", "current.size_gib"),
    ("current_iops", "current.iops"),
    ("current_throughput_mib_s", "current.throughput_mib_s"),
    ("target_type", "target.type"),
    ("target_iops", "target.iops"),
    ("target_throughput_mib_s", "target.throughput_mib_s"),
    ("monthly_usd_now", "monthly_usd_now"),
    ("monthly_usd_then", "monthly_usd_then"),
    ("monthly_usd_saved", "monthly_usd_saved"),
    ("monthly_usd_saved_at_parity", "monthly_usd_saved_at_parity"),
    ("peak_iops", "demand.peak_iops"),
    ("peak_throughput_mib_s", "demand.peak_throughput_mib_s"),
    ("censored", "demand.censored"),
    ("hours_observed", "demand.hours_observed"),
    ("evidence_grade", "evidence.grade"),
    ("owner_kind", "owner.kind"),
    ("owner_name", "owner.name"),
    ("stripe_set", "stripe_set.name"),
    ("blockers", "blockers"),
    ("reasons", "reasons"),
)
"""Each column's name, and where its figure is in a record."""


def header() -> list[str]:
    """The names of the columns."""
    return [name for name, _ in COLUMNS]


def row(record: Mapping[str, Any]) -> list[str]:
    """A record's cells; `record` is its JSON."""
    return [_cell(record, path) for _, path in COLUMNS]


def _cell(record: Mapping[str, Any], path: str) -> str:
    value: Any = record
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return ""
    return _inert(
        "; ".join(_words(value)) if isinstance(value, list) else str(value), numeric=isinstance(value, int | float)
    )


def _words(values: list[Any]) -> Iterator[str]:
    return (value["text"] if isinstance(value, Mapping) else str(value) for value in values)


def _inert(text: str, *, numeric: bool) -> str:
    """Text that a spreadsheet shows and does not run: names come from tags, and tags from anybody."""
    return text if numeric or not text.startswith(("=", "+", "-", "@", "\t", "\r")) else f"'{text}"
