"""What `make bench` rests on: the server that answers from memory, and the page that its figures are written into."""

import json
import subprocess
import sys
import threading
import time
from collections import namedtuple
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np
import pytest

SPEED = Path(__file__).parents[3] / "benchmarks" / "speed"
PAGE = SPEED / "README.md"
LATENCY_S = 0.05
ASKED = []
FIRST = "vol-00" + "a" * 15


@dataclass(frozen=True)
class Place:
    """What a benchmark knows of an account."""

    endpoint: str


class Cloud(BaseHTTPRequestHandler):
    """A cloud that counts what it is asked, and says so in its answers. Pages of one have another behind them."""

    def do_POST(self):
        ASKED.append(self.rfile.read(int(self.headers["Content-Length"])))
        behind = "<nextToken>rest=</nextToken>" if ASKED[-1].endswith(b"MaxResults=1") else ""
        answer = f"<DescribeVolumesResponse>{FIRST} {len(ASKED)}{behind}</DescribeVolumesResponse>".encode()
        self.send_response(503 if ASKED[-1] == b"ill" else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_words):
        pass


@pytest.fixture(scope="module")
def canned():
    sys.path.insert(0, str(SPEED))
    yield import_module("canned")
    sys.path.remove(str(SPEED))


@pytest.fixture
def account(canned):
    ASKED.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Cloud) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with canned.canned(Place(f"http://127.0.0.1:{server.server_port}"), LATENCY_S * 1e3) as known:
            yield known
        server.shutdown()


def ask(account, body):
    with urlopen(account.endpoint, body.encode()) as answer:
        return answer.read().decode()


Counted = namedtuple("Counted", "calls passed_on")


def counts(canned, account, copies=1):
    taken = canned.take_counts(account, copies)
    return Counted(taken.calls, taken.passed_on)


def test_what_was_answered_once_is_answered_from_memory_after_its_latency(canned, account):
    first = ask(account, "Action=A")
    start = time.perf_counter()
    assert ask(account, "Action=A") == first
    assert time.perf_counter() - start >= LATENCY_S
    assert ask(account, "Action=B") != first
    assert ASKED == [b"Action=A", b"Action=B"]
    assert counts(canned, account) == (3, 2)
    assert counts(canned, account) == (0, 0)


def test_what_failed_is_asked_again(canned, account):
    for _ in range(2):
        with pytest.raises(HTTPError, match="503"):
            ask(account, "ill")
    assert counts(canned, account) == (2, 2)


def pages_of(account, size):
    asked = f"Action=DescribeVolumes&MaxResults={size}"
    page = ask(account, asked)
    yield page
    while "<nextToken>" in page:
        page = ask(account, f"{asked}&NextToken={quote(page.partition('<nextToken>')[2].partition('<')[0])}")
        yield page


def test_copies_are_pages_of_ids_of_their_own_and_are_answered_by_the_first(canned, account):
    counts(canned, account, copies=3)
    pages = list(pages_of(account, 500))
    names = [FIRST.replace("vol-00", f"vol-{number:02x}") for number in range(3)]
    assert [name for page in pages for name in names if name in page] == names
    answers = [ask(account, f"Action=Other&VolumeId={name}") for name in names]
    assert [name in answer for name, answer in zip(names, answers, strict=True)] == [True] * 3
    assert counts(canned, account) == (6, 2)
    assert ASKED[-1].decode() == f"Action=Other&VolumeId={FIRST}"


def test_a_first_account_of_several_pages_is_copied_page_by_page(canned, account):
    counts(canned, account, copies=2)
    pages = list(pages_of(account, 1))
    second = FIRST.replace("vol-00", "vol-01")
    assert [FIRST in page for page in pages] == [True, True, False, False]
    assert [second in page for page in pages] == [False, False, True, True]
    assert ASKED == [b"Action=DescribeVolumes&MaxResults=1", b"Action=DescribeVolumes&MaxResults=1&NextToken=rest%3D"]


def test_the_page_has_the_figures_of_every_question_and_each_is_written_alone(canned, tmp_path):
    run = import_module("run")
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    row = import_module("figures").Row
    for letter in run.QUESTIONS:
        rows = [row.at_most(f"{letter} of a thing", 2.0, 1.0, "s"), row(what="no bound", measured="3 s")]
        run.write(page, letter, run.text_of(rows, "Measured now."))
    written = page.read_text(encoding="utf-8")
    assert written.count("| at most 1 s | **missed** |") == len(run.QUESTIONS) == written.count("### ")
    assert all(written.count(f"| {letter} of a thing | 2 s |") == 1 for letter in run.QUESTIONS)
    assert len(written.split("<!--")) == len(PAGE.read_text(encoding="utf-8").split("<!--"))


def test_the_memory_that_is_measured_is_plimsoll_s_and_not_the_simulator_s(canned, tmp_path):
    code = "import json, sys, growth; print(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=SPEED, capture_output=True, text=True, check=True)
    assert not {"moto", "duckdb", "cloud_simulator.aws"} & {*json.loads(done.stdout)}


def test_patterns_are_read_back_as_they_were_written(canned, tmp_path):
    fleet = import_module("memory_fleet")
    made = import_module("patterns").make_patterns(count=3)
    made.save(tmp_path)
    found = fleet.Patterns.read(tmp_path)
    assert found.volumes == made.volumes
    for name, sums in made.minutes.items():
        assert (found.minutes[name].start_s, found.minutes[name].period_s) == (sums.start_s, sums.period_s)
        assert found.minutes[name].series.keys() == sums.series.keys()
        assert all(
            np.array_equal(found.minutes[name].series[key], sums.series[key], equal_nan=True) for key in sums.series
        )
