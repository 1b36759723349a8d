"""A trace of one volume from its metrics to the page: the library's files whose functions ran on the way."""

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from cloud_simulator.running import running
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume
from plimsoll.orders import Order
from plimsoll.ports import FailedTarget, Inventory, Metrics, Target, UnreadVolume
from plimsoll.reading.known import Ask
from plimsoll.reports.html.page import write_html
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import stream_records
from plimsoll.run import carry_out
from plimsoll.settings import Settings
from tests.gates.library import LIBRARY, PACKAGES

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
VOLUME = "ledger-db"
"""An io1 volume of the simulated organization, which becomes gp3."""


@dataclass
class OneVolume:
    """An inventory of which only the volumes of one name are audited, in the one target that has any.

    Another target would be listed and priced beside them, as threads have it.
    """

    inventory: Inventory

    def targets(self) -> list[Target | FailedTarget]:
        targets = self.inventory.targets()
        return [target for target in targets if isinstance(target, Target) and any(self.volumes(target))]

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        for volume in self.inventory.volumes(target):
            if isinstance(volume, Volume) and volume.name == VOLUME:
                yield volume

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inventory, name)


@dataclass
class Begins:
    """Metrics whose first reading begins the trace: what lists volumes and prices is not on the way."""

    metrics: Metrics
    begin: Callable[[], None]

    def read(self, asks: Sequence[Ask]) -> Any:
        self.begin()
        return self.metrics.read(asks)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.metrics, name)


@dataclass(frozen=True)
class Trace:
    """What a volume's audit called, as file and qualified name by their first calls, and its record."""

    calls: tuple[tuple[str, str], ...]
    record: RecommendationRecord


def files_of_a_volume() -> list[str]:
    """The files, templates included, whose functions run from a volume's metrics to its page."""
    return sorted({file for file, _ in trace_volume().calls})


@cache
def trace_volume() -> Trace:
    """The trace of a volume from its metrics to its page."""
    with running(NOW) as organization, tempfile.TemporaryDirectory() as folder, patch.dict(os.environ):
        os.environ.update(organization.environment)
        order = Order(folder=Path(folder) / "run", scope={}, policy=Policy(), now=NOW)
        scope = Scope(role_arns=organization.role_arns[:1], regions=organization.fleet.regions[:1])
        ledger = Ledger(path=Path(folder) / "ledger.json")
        (ports,) = ports_of(scope, Settings(), today=NOW.date(), ledger=ledger, paced=False)
        calls = dict[tuple[str, str], None]()
        with _traced(calls) as begin:
            one = replace(ports, inventory=OneVolume(ports.inventory), metrics=Begins(ports.metrics, begin))
            run, *_ = carry_out(order, [one], lambda _progress, _outcome: None)
            write_html(order.folder, Path(folder) / "report.html", envelopes={}, console_link=lambda _record: "")
        assert run.volumes.answered == 1, run.volumes
        (record,) = stream_records(order.folder)
    return Trace(calls=tuple(calls), record=record)


@contextmanager
def _traced(calls: dict[tuple[str, str], None]) -> Iterator[Callable[[], None]]:
    """Collects the library's functions that are called after the begin, in every thread of this process."""
    homes = tuple(f"{LIBRARY / package}{os.sep}" for package in PACKAGES)
    has_begun = threading.Event()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(homes) and code.co_name != "<module>" and has_begun.is_set():
            calls.setdefault((code.co_filename.removeprefix(f"{LIBRARY}{os.sep}"), code.co_qualname))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield has_begun.set
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
