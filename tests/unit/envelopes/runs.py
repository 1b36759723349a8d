"""Runs of a benchmark by mode, block size and IOPS, and the envelope fitted to them."""

from collections.abc import Iterable
from dataclasses import replace

from plimsoll.envelopes.fit import fit_envelope
from plimsoll.model.envelope import Envelope, JobShape, Measurement
from plimsoll.model.volume import VolumeSpec
from tests.builders import TYPES
from tests.unit.envelopes.measured import UNKNOWN_TYPE, a_measurement, a_system

GP3 = VolumeSpec(type="gp3", size_gib=500, iops=4_000, throughput_mib_s=500)


def a_run(
    mode: str = "randwrite",
    block_kib: float = 4,
    iops: float | None = None,
    throughput_mib_s: float | None = None,
    *,
    job: dict | None = None,
    **fields,
) -> Measurement:
    """A measurement; the throughput follows from the IOPS unless it is given."""
    if throughput_mib_s is None and iops is not None:
        throughput_mib_s = iops * block_kib / 1024
    shape = JobShape(mode=mode, block_kib=block_kib, **{"direct": True, "runtime_s": 180, **(job or {})})
    return a_measurement(iops, throughput_mib_s, job=shape, **fields)


def a_sweep(iops: float, throughput_mib_s: float, mode: str = "randwrite") -> list[Measurement]:
    """What a roofline shows at seed 004's block sizes."""
    return [
        a_run(mode, block_kib, min(iops, throughput_mib_s * 1024 / block_kib))
        for block_kib in (4, 8, 16, 32, 64, 128, 256)
    ]


def fitted(
    measurements: Iterable[Measurement],
    *,
    spec: VolumeSpec = UNKNOWN_TYPE,
    published_iops: float | None = None,
    **system,
) -> Envelope:
    """The envelope of a system of those measurements, under the published AWS types."""
    found = a_system([replace(one, spec=spec) for one in measurements], spec=spec, **system)
    return fit_envelope(replace(found, published_iops=published_iops), TYPES)
