"""A fleet from the clouds' own history: what each volume in scope did, for as long as that is kept."""

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import numpy as np

from plimsoll.auditing.list import listings
from plimsoll.auditing.ports import AuditPorts
from plimsoll.files import atomic_path
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.series import BYTES, OPERATIONS
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget
from plimsoll.reading.known import Ask, Found, Look
from plimsoll.reading.window import Window
from plimsoll_backtest.fleet import OWNER, SUMS

Failed = Callable[[str], None]
"""Called with a sentence about what could not be read."""


def fleet_of_clouds(audits: Sequence[AuditPorts], now: datetime, out: Path, period_s: int, failed: Failed) -> int:
    """Writes the fleet of all volumes in scope, and says of how many. BadInput where there are none, or no cloud keeps
    such a period; CloudError where nothing of a place can be read.

    A volume's rows are on the disk as soon as they are read, so that memory does not grow with the fleet.
    """
    look = Look(window=_window(audits, now, period_s), period_s=period_s, groups=(OPERATIONS, BYTES))
    return write_fleet(out, _read(audits, look, failed), look.window, period_s)


def write_fleet(out: Path, rows: Iterable[tuple[Volume, Found]], window: Window, period_s: int) -> int:
    """Writes a fleet file of the volumes with their sums in a window's buckets; returns the number of volumes.

    Raises BadInput if there are none.
    """
    names, owners = list[str](), list[str]()
    with atomic_path(out) as beside, tempfile.TemporaryDirectory(dir=out.parent) as folder:
        paths = {name: Path(folder) / name for name in SUMS}
        with ExitStack() as stack:
            files = {name: stack.enter_context(path.open("wb")) for name, path in paths.items()}
            for volume, sums in rows:
                names.append(name_of(volume))
                owners.append(volume.owner.kind.value)
                for name, file in files.items():
                    file.write(np.ascontiguousarray(sums[name], dtype=np.float64).tobytes())
        if not names:
            raise BadInput("there is no volume to read in this scope: name other accounts, projects or regions.")
        shape = len(names), window.buckets(period_s)
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            columns = {"volume": names, OWNER: owners, "period_s": period_s, "start_epoch_s": window.start_s}
            for name, value in columns.items():
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, np.array(value), allow_pickle=False)
            for name, path in paths.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry, path.open("rb") as kept:
                    descr = np.lib.format.dtype_to_descr(np.dtype(np.float64))
                    header = {"descr": descr, "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_2_0(entry, header)
                    shutil.copyfileobj(kept, entry)
    return len(names)


def name_of(volume: Volume) -> str:
    """A volume's name in a fleet's file: account, region and id."""
    return f"{volume.account}/{volume.region}/{volume.id}"


def _window(audits: Sequence[AuditPorts], now: datetime, period_s: int) -> Window:
    """The longest window in which every cloud in scope keeps that period, up to what it publishes by now."""
    days = min(
        max((days for kept_s, days in ports.metrics.retention_days.items() if kept_s <= period_s), default=0.0)
        for ports in audits
    )
    late_s = max(ports.metrics.visible_after_s for ports in audits)
    end_s = int(now.timestamp() - late_s) // period_s * period_s
    start_s = -(-int(now.timestamp() - days * DAY_S) // period_s) * period_s
    if start_s >= end_s:
        raise BadInput(f"no cloud in scope keeps periods of {period_s} s: give a longer one with --period-s.")
    return Window(start_s=start_s, end_s=end_s)


def _read(audits: Sequence[AuditPorts], look: Look, failed: Failed) -> Iterator[tuple[Volume, Found]]:
    """Yields the volumes of all accounts with their series; what cannot be read is told to `failed`."""
    for ports in audits:
        for listing in listings(ports):
            if isinstance(listing, FailedTarget):
                failed(f"{listing.name}: {listing.error}")
                continue
            if listing.error is not None:
                failed(f"{listing.target}: {listing.error}")
            for first in range(0, listing.count, ports.batch_volumes):
                batch = listing.volumes[first : first + ports.batch_volumes]
                answers = ports.metrics.read([Ask(volume=volume, look=look) for volume in batch])
                for volume, answer in zip(batch, answers, strict=True):
                    if isinstance(answer, CloudError):
                        failed(f"{listing.target}/{volume.id}: {answer}")
                    elif all(name in answer for name in SUMS):
                        yield volume, answer
