"""Envelopes as data: what JSON has of them."""

from math import isfinite
from typing import Any

from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.envelope import Envelope, Lasting, Measurement, Ruling


def as_data(envelope: Envelope) -> dict[str, Any]:
    """An envelope for JSON: what was fitted and why, and every figure as computed with and as printed."""
    spec = envelope.spec
    return {
        "name": envelope.name,
        "provider": envelope.provider,
        "type": spec.type,
        "size_gib": spec.size_gib or None,
        "provisioned_iops": spec.iops,
        "provisioned_throughput_mib_s": spec.throughput_mib_s,
        "volumes": envelope.volumes,
        "host_type": envelope.host_type,
        "iops": envelope.iops,
        "throughput_mib_s": envelope.throughput_mib_s,
        "best_iops": envelope.best(Resource.IOPS),
        "best_throughput_mib_s": envelope.best(Resource.THROUGHPUT),
        "published": _ceiling_data(envelope.published),
        "host": _ceiling_data(envelope.host),
        "cut": list(envelope.cut),
        "host_bound": list(envelope.host_bound),
        "notes": list(envelope.notes),
        "measurements": [_measurement_data(measurement) for measurement in envelope.measurements],
    }


def directions(ceiling: Ceiling | None, side: Resource) -> tuple[float | None, float | None]:
    """The limits of reads and of writes, None where nothing is published."""
    if ceiling is None:
        return None, None
    reads, writes = (
        (ceiling.iops, ceiling.write_iops)
        if side is Resource.IOPS
        else (ceiling.throughput_mib_s, ceiling.write_throughput_mib_s)
    )
    return (reads if isfinite(reads) else None), (writes if isfinite(writes) else None)


def _ceiling_data(ceiling: Ceiling | None) -> dict[str, float | None] | None:
    """The ceiling as JSON, reads and writes apart; None without one."""
    if ceiling is None:
        return None
    (read_iops, write_iops), (read_mib_s, write_mib_s) = (directions(ceiling, side) for side in Resource)
    return {
        "read_iops": read_iops,
        "write_iops": write_iops,
        "read_throughput_mib_s": read_mib_s,
        "write_throughput_mib_s": write_mib_s,
    }


def _measurement_data(measurement: Measurement) -> dict[str, Any]:
    made, latency = measurement.provenance, measurement.latency
    return {
        "mode": measurement.job.mode,
        "block_kib": measurement.job.block_kib,
        "iops": measurement.iops,
        "throughput_mib_s": measurement.throughput_mib_s,
        "mean_latency_us": latency.mean_us,
        "latency_percentiles_us": {f"{percent:g}": value for percent, value in latency.percentiles_us},
        "latency_under_us": latency.under_us,
        "bound_by": measurement.bound_by.value,
        "rulings": [_ruling_data(ruling) for ruling in measurement.rulings],
        "counts_for": {side.value: measurement.admission(side).value for side in Resource},
        "over_time": [_lasting_data(lasting) for lasting in measurement.lastings],
        "source": made.source,
        "reference": made.reference,
        "tool": made.tool,
        "tool_version": made.tool_version,
        "measured_on": made.dated,
        "printed": dict(measurement.printed),
    }


def _lasting_data(lasting: Lasting) -> dict[str, Any]:
    """Rates are IOPS or MiB/s, and credits operations or MiB."""
    return {
        "side": lasting.side.value,
        "burst_rate": lasting.burst_rate,
        "sustained_rate": lasting.sustained_rate,
        "credits": lasting.credits,
        "spent_at_s": lasting.spent_at_s,
        "text": lasting.text,
    }


def _ruling_data(ruling: Ruling) -> dict[str, Any]:
    return {
        "rule": ruling.rule,
        "verdict": ruling.admission.value,
        "sides": sorted(side.value for side in ruling.sides),
        "text": ruling.text,
        "source": ruling.source,
    }
