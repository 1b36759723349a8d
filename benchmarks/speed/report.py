"""How the report grows with the fleet: report.html of 1,000 and of 10,000 everyday volumes, a process each.

`python report.py RUN 10000` makes such a run, and `python report.py RUN` says what its page takes: bytes,
seconds to write, and, where Chromium is, seconds from opening it until its table can be used.
"""

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from growth import peak_mib
from measured_audit import Row
from memory_fleet import NOW, Patterns, project_ports
from playwright.sync_api import sync_playwright

from cloud_simulator.aws.organization import Mix
from plimsoll.bootstrap.consoles import console_link
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.model.policy import Policy
from plimsoll.orders import Order
from plimsoll.reports.html.page import write_html
from plimsoll.reports.run_files import PAGE
from plimsoll.reports.run_reader import stream_profiles, stream_records
from plimsoll.run import carry_out

FEW, MANY = 1_000, 10_000
WORKLOADS = 200
OPENED = 5
MOST_BYTES = 15_000_000
"""Of the page of `MANY` volumes."""
MOST_OPENING_S = 1.0
"""From opening it until its table can be used."""

MEMORY = 1.3


def measure() -> list[Row]:
    """The rows of the page's size, its time against reading what it shows, and its growth in time and memory."""
    few, many = _child(FEW), _child(MANY)
    return [
        Row(
            what=f"report.html of {MANY:,} volumes against 15 MB",
            measured=f"{many['bytes'] / 1e6:.1f} MB : 15 MB",
            ratio=many["bytes"] / MOST_BYTES,
            target=1,
            note=f"{FEW:,}: {few['bytes'] / 1e6:.1f} MB",
        ),
        *_opening(many),
        Row(
            what=f"writing report.html of {MANY:,} volumes against reading what it shows",
            measured=f"{many['seconds']:.1f} s : {many['read_seconds']:.1f} s",
            ratio=many["seconds"] / many["read_seconds"],
            note=f"{FEW:,}: {few['seconds']:.1f} s",
        ),
        Row(
            what=f"memory of that at {MANY:,} volumes against {FEW:,}",
            measured=f"{many['peak_mib']:.0f} MiB : {few['peak_mib']:.0f} MiB",
            ratio=many["peak_mib"] / few["peak_mib"],
            target=MEMORY,
        ),
    ]


def _opening(page: dict[str, float]) -> Iterator[Row]:
    if "opening_seconds" in page:
        yield Row(
            what=f"opening report.html of {MANY:,} volumes, until its table can be used, against a second",
            measured=f"{page['opening_seconds']:.2f} s : {MOST_OPENING_S:g} s",
            ratio=page["opening_seconds"] / MOST_OPENING_S,
            target=1,
        )


def _child(size: int) -> dict[str, float]:
    with TemporaryDirectory() as folder:
        _run(folder, str(size))
        return dict(json.loads(_run(folder)))


def _run(*words: str) -> str:
    command = [sys.executable, str(Path(__file__)), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  # this file


def _audited(folder: Path, size: int) -> None:
    """A run of so many volumes."""
    ports = project_ports(size, Patterns.make(Mix.EVERYDAY, count=WORKLOADS))
    order = Order(folder=folder, scope={}, policy=Policy(), now=NOW)
    carry_out(order, [ports], lambda _progress, _outcome: None)


def _written(folder: Path) -> dict[str, float]:
    """The seconds and the memory of writing the page of a run, its size, and the seconds of reading the run alone."""
    start = time.perf_counter()
    read = sum(1 for _ in stream_records(folder)) + sum(1 for _ in stream_profiles(folder))
    read_seconds = time.perf_counter() - start
    start = time.perf_counter()
    write_html(
        folder,
        folder / PAGE,
        envelopes=envelope_library().envelopes,
        console_link=lambda record: console_link(record, Policy(), NOW),
    )
    seconds = time.perf_counter() - start
    size = (folder / PAGE).stat().st_size
    chromium = shutil.which("chromium")
    opening = {} if chromium is None else {"opening_seconds": _opened(folder / PAGE, chromium)}
    return opening | {
        "seconds": seconds,
        "read_seconds": read_seconds,
        "read": read,
        "bytes": size,
        "peak_mib": peak_mib(),
    }


def _opened(page: Path, chromium: str) -> float:
    """The median of seconds from opening a page until its table can be used, each time by a new context."""
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(OPENED):
            tab = browser.new_context().new_page()
            start = time.perf_counter()
            tab.goto(page.resolve().as_uri(), wait_until="commit")
            tab.locator("#table tbody tr").first.wait_for()
            found.append(time.perf_counter() - start)
        browser.close()
    return statistics.median(found)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, size]:
            _audited(Path(folder), int(size))
        case [folder]:
            json.dump(_written(Path(folder)), sys.stdout)
        case _:
            for row in measure():
                sys.stdout.write(f"{row}\n")
