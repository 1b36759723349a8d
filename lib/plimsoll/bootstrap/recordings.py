"""The ports of a recording, and ports that record."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.clouds import audit_ports
from plimsoll.clouds.recorder import RecordedPorts, Recorder
from plimsoll.clouds.recording import open_recording
from plimsoll.clouds.registry import CLOUDS
from plimsoll.distribution import own_version
from plimsoll.model.errors import BadInput
from plimsoll.settings import Settings


def recorded_ports(path: Path, settings: Settings) -> tuple[list[AuditPorts], datetime]:
    """The ports of each cloud in a recording, and its time. Raises BadInput for a file that is no recording."""
    recordings = open_recording(path)
    for recording in recordings:
        if recording.provider not in CLOUDS:
            raise BadInput(
                f"{recording.path} is a recording of the cloud {recording.provider!r}, which Plimsoll "
                f"{own_version()} does not know: it was made by version {recording.version}; decide by that one."
            )
    ports = [
        replace(audit_ports(recording.provider, recording, recording, recording, settings), every_minute=True)
        for recording in recordings
    ]
    return ports, recordings[0].now


@contextmanager
def record_audits(path: Path, audits: Sequence[AuditPorts], now: datetime) -> Iterator[list[AuditPorts]]:
    """The same audits, recorded into a file for as long as the block lasts."""
    kept = {ports.catalog.provider: ports.metrics.retention_days for ports in audits}
    late = {ports.catalog.provider: ports.metrics.visible_after_s for ports in audits}
    memory = {ports.catalog.provider: ports.metrics.memory_days for ports in audits}
    with Recorder(path, now, own_version(), kept, memory, late) as recorder:
        yield [recording_ports(ports, recorder) for ports in audits]


def recording_ports(ports: AuditPorts, recorder: Recorder) -> AuditPorts:
    """The same ports, recorded as they are read: every minute, so that another policy can decide by it as well."""
    through = RecordedPorts(
        inventory=ports.inventory,
        metrics=ports.metrics,
        prices=ports.prices,
        recorder=recorder,
        provider=ports.catalog.provider,
    )
    return replace(ports, inventory=through, metrics=through, prices=through, every_minute=True)
