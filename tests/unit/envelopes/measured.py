"""Builders of measurements and systems: what a campaign file becomes."""

from collections.abc import Sequence
from datetime import date

from plimsoll.envelopes.campaigns import System
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.envelope import BoundBy, JobShape, Measurement, Provenance, RunFacts
from plimsoll.model.volume import VolumeSpec

UNKNOWN_TYPE = VolumeSpec(type="a-type-nobody-publishes", size_gib=100)


def on_a_volume(**facts: object) -> RunFacts:
    """The facts of a run on a volume."""
    return RunFacts(**{"devices": ("nvme1n1",), **facts})


def a_measurement(
    iops: float | None = None,
    throughput_mib_s: float | None = None,
    *,
    block_kib: float = 16,
    mode: str = "randread",
    tool: str = "fio",
    measured_on: date | None = None,
    account: str | None = None,
    region: str | None = None,
    **fields: object,
) -> Measurement:
    """A measurement of a long run with direct I/O, so that nothing but its figures is remarkable."""
    return Measurement(
        **{
            "system": "a-system",
            "spec": UNKNOWN_TYPE,
            "host_type": None,
            "job": JobShape(
                mode=mode, block_kib=block_kib, iodepth=32, jobs=1, engine="libaio", direct=True, runtime_s=180
            ),
            "iops": iops,
            "throughput_mib_s": throughput_mib_s,
            "bound_by": BoundBy.UNKNOWN,
            "run": on_a_volume(),
            "provenance": Provenance(
                campaign="a-campaign",
                source="notes of a test",
                cited="a-campaign",
                reference="a-campaign: notes.txt",
                tool=tool,
                provider="aws",
                measured_on=measured_on,
                account=account,
                region=region,
            ),
            **fields,
        }
    )


def a_system(
    measurements: Sequence[Measurement],
    *,
    spec: VolumeSpec = UNKNOWN_TYPE,
    volumes: int = 1,
    host: Ceiling | None = None,
    host_baseline: Ceiling | None = None,
) -> System:
    return System(
        name="a-system",
        title="A system",
        spec=spec,
        volumes=volumes,
        provider="aws",
        host_type="a-host" if host else None,
        host_maximum=host,
        host_baseline=host_baseline or host,
        published_iops=None,
        measurements=tuple(measurements),
        note=None,
    )
