"""Time that a reader waits for report.html of 10,000 everyday volumes.

`python report.py RUN 10000` makes such a run, and `python report.py RUN` says what its page takes: bytes and, where
Chromium is, seconds from opening it until its table can be used.
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

from figures import Row
from memory_fleet import NOW, project_ports
from patterns import make_patterns
from playwright.sync_api import sync_playwright

from cloud_simulator.aws.organization import Mix
from plimsoll.bootstrap.consoles import console_link
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.model.policy import Policy
from plimsoll.orders import Order
from plimsoll.reports.html.page import write_html
from plimsoll.reports.run_files import PAGE
from plimsoll.run import carry_out

MANY = 10_000
WORKLOADS = 200
OPENED = 5
MOST_MB = 15.0
MOST_OPENING_S = 1.0


def measure() -> Iterator[Row]:
    """The rows of the page's size, and of the time from opening it until its table can be used."""
    page = _child(MANY)
    yield Row.at_most(f"size of report.html of {MANY:,} volumes", page["bytes"] / 1e6, MOST_MB, "MB")
    if "opening_seconds" in page:
        yield Row.at_most("… from opening it until its table can be used", page["opening_seconds"], MOST_OPENING_S, "s")


def _child(size: int) -> dict[str, float]:
    with TemporaryDirectory() as folder:
        _run(folder, str(size))
        return dict(json.loads(_run(folder)))


def _run(*words: str) -> str:
    command = [sys.executable, str(Path(__file__)), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  # this file


def _audited(folder: Path, size: int) -> None:
    """A run of so many volumes."""
    ports = project_ports(size, make_patterns(Mix.EVERYDAY, count=WORKLOADS))
    order = Order(folder=folder, scope={}, policy=Policy(), now=NOW)
    carry_out(order, [ports], lambda _progress, _outcome: None)


def _written(folder: Path) -> dict[str, float]:
    """The size of a run's page, and where Chromium is the seconds of opening it."""
    write_html(
        folder,
        folder / PAGE,
        envelopes=envelope_library().envelopes,
        console_link=lambda record: console_link(record, Policy(), NOW),
    )
    chromium = shutil.which("chromium")
    opening = {} if chromium is None else {"opening_seconds": _opened(folder / PAGE, chromium)}
    return {"bytes": (folder / PAGE).stat().st_size, **opening}


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
