"""The live page: the newest run's report, its state, a page of each volume, and nothing for strangers."""

import json
import os
import urllib.error
import urllib.request

import pytest

from plimsoll.reports.open_metrics import metrics_lines
from plimsoll.reports.run_folder import RunFolder
from plimsoll.serving.live_report import LiveReport
from plimsoll.serving.volume_page import volume_history
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.serving.served import served

ONE = "111122223333/us-east-1/vol-1"


def a_page(url, **headers):
    """A page's status, headers and text."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, answer.headers, answer.read().decode("utf-8")
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode("utf-8")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    folder = tmp_path / "runs"
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(folder))
    return folder


def go_on(folder, *records):
    """Adds answers to a run that goes on."""
    with RunFolder(folder) as written:
        for record in records:
            written.add(record)


class TestTheLiveReport:
    def test_it_is_made_anew_where_the_run_has_gone_on_and_not_too_often(self, runs, tmp_path):
        folder = a_run(runs / "one", [a_record(volume_id="vol-1")])
        now = [0.0]
        live = LiveReport(place=tmp_path, clock=lambda: now[0])
        first = live.page().read_bytes()
        assert live.state().version.encode() in first
        go_on(folder, a_record(volume_id="vol-2"))
        assert live.state().version.encode() in live.page().read_bytes() == first
        now[0] += 60
        later = live.page().read_bytes()
        assert live.state().version.encode() in later != first

    def test_metrics_are_made_anew_likewise_and_wait_for_no_page(self, runs, tmp_path):
        folder = a_run(runs / "one", [a_record(volume_id="vol-1")])
        now = [0.0]
        live = LiveReport(place=tmp_path, clock=lambda: now[0])
        first = live.metrics().read_text(encoding="utf-8")
        go_on(folder, a_record(volume_id="vol-2"))
        assert live.metrics().read_text(encoding="utf-8") == first
        now[0] += 60
        assert live.metrics().read_text(encoding="utf-8") == "".join(metrics_lines(folder)) != first
        assert not (tmp_path / "report.html").exists()

    def test_a_newer_run_takes_the_place_of_the_one_shown(self, runs, tmp_path):
        a_run(runs / "one", [a_record(volume_id="vol-1")])
        live = LiveReport(place=tmp_path)
        assert live.folder().name == "one"
        a_run(runs / "two", [a_record(volume_id="vol-1")])
        assert live.folder().name == "two"
        assert LiveReport(place=tmp_path, run=runs / "one").folder().name == "one"

    def test_a_run_that_goes_on_says_how_far_it_is(self, runs, tmp_path):
        folder = a_run(runs / "one", [a_record(volume_id="vol-1")], status="running")
        with RunFolder(folder):
            state = LiveReport(place=tmp_path).state()
        assert state.running
        assert "1 of 1 volumes" in state.told
        assert not LiveReport(place=tmp_path).state().running  # nobody writes it any more


def test_the_history_is_what_each_run_said_the_newest_first(runs):
    a_run(runs / "old", [a_record("migrate", volume_id="vol-1")], now="2027-01-01T08:00:00+00:00")
    a_run(runs / "new", [a_record("keep", volume_id="vol-1")], now="2027-01-15T08:00:00+00:00")
    a_run(runs / "without", [a_record(volume_id="vol-2")], now="2027-01-16T08:00:00+00:00")
    (runs / "broken").mkdir()
    (runs / "broken" / "run.json").write_text("{", encoding="utf-8")
    assert [(one.run, one.record.action) for one in volume_history(ONE, runs)] == [("new", "keep"), ("old", "migrate")]


@pytest.mark.needs("serve")
class TestTheServer:
    def test_it_serves_the_report_its_state_and_each_volume(self, runs, tmp_path):
        a_run(runs / "one", [a_record("migrate", volume_id="vol-1", name="<b>db</b>")])
        with served(tmp_path / "served") as url:
            status, headers, page = a_page(url)
            assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
            state = json.loads(a_page(f"{url}/state.json")[2])
            assert f'data-version="{state["version"]}"' in page
            assert not state["running"]
            status, _, page = a_page(f"{url}/volume/{ONE}")
            assert status == 200
            assert "History" in page
            assert "<b>db" not in page

    def test_a_scraper_reads_the_metrics_of_the_run_in_the_format_that_it_takes(self, runs, tmp_path):
        folder = a_run(runs / "one", [a_record("migrate", volume_id="vol-1")])
        with served(tmp_path / "served") as url:
            status, headers, text = a_page(f"{url}/metrics", Accept="application/openmetrics-text;version=1.0.0;q=0.5")
            assert (status, text) == (200, "".join(metrics_lines(folder)))
            assert headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
            status, headers, plain = a_page(f"{url}/metrics")
            assert (status, plain) == (200, text)
            assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"

    def test_a_volume_is_led_to_by_its_name_and_by_how_its_id_begins(self, runs, tmp_path):
        a_run(runs / "one", [a_record("migrate", volume_id="vol-1", name="ledger db/1")])
        with served(tmp_path / "served") as url:
            whole = a_page(f"{url}/volume/{ONE}")[2]
            assert "History" in whole
            for word in ("vol-1", "vol", "ledger%20db/1", "ledger%20db%2F1"):
                assert a_page(f"{url}/volume/{word}")[2] == whole
            status, _, page = a_page(f"{url}/volume/vol-x1")
        assert (status, "did you mean vol-1?" in page) == (404, True)

    def test_every_answer_has_the_headers_that_keep_it_where_it_is(self, runs, tmp_path):
        a_run(runs / "one", [a_record(volume_id="vol-1")])
        with served(tmp_path / "served") as url:
            for path in ("/", "/state.json", "/metrics", f"/volume/{ONE}", "/volume/a/b/c", "/nothing"):
                headers = a_page(url + path)[1]
                assert headers["content-security-policy"] == "frame-ancestors 'none'"
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["cache-control"] == "no-store"

    def test_what_is_not_there_is_said(self, runs, tmp_path):
        with served(tmp_path / "served") as url:
            status, _, page = a_page(url)
            assert (status, "plimsoll audit" in page) == (503, True)
            assert a_page(f"{url}/state.json")[0] == 503
            status, headers, text = a_page(f"{url}/metrics")
            assert (status, headers["content-type"], "plimsoll audit" in text) == (
                503,
                "text/plain; charset=utf-8",
                True,
            )
            a_run(runs / "one", [a_record(volume_id="vol-1")])
            assert a_page(url)[0] == 200
            status, _, page = a_page(f"{url}/volume/1/2/vol-9")
            assert (status, "vol-9" in page) == (404, True)
            status, _, page = a_page(f"{url}/nothing")
            assert (status, "<h1>" in page, "/volume/ID" in page) == (404, True, True)

    def test_it_only_reads_and_answers_to_this_machines_name_alone(self, runs, tmp_path):
        a_run(runs / "one", [a_record(volume_id="vol-1")])
        with served(tmp_path / "served") as url:
            assert a_page(url, Host="evil.example")[0] == 400
            for method in ("POST", "PUT", "DELETE"):
                with pytest.raises(urllib.error.HTTPError, match="405"):
                    urllib.request.urlopen(urllib.request.Request(url, method=method))
            assert a_page(f"{url}/volume/..%2F..%2F/etc/passwd")[0] == 404


NEIGHBORS = [
    "a link to nothing",
    "a pipe",
    "a folder",
    "nonsense",
    "deep",
    "no UTF-8 name",
    "a day that is none",
    "a list",
]


@pytest.mark.parametrize("kind", NEIGHBORS)
def test_one_broken_neighbor_never_ends_a_page_in_500(runs, tmp_path, kind):
    pytest.importorskip("uvicorn")
    good = a_run(runs / "one", [a_record(volume_id="vol-1")])
    neighbor = runs / ("two" if kind != "no UTF-8 name" else os.fsdecode(b"\xff\xfe"))
    neighbor.mkdir()
    path = neighbor / "run.json"
    if kind == "a link to nothing":
        path.symlink_to(tmp_path / "nowhere")
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    else:
        texts = {
            "nonsense": "\x00",
            "deep": "[" * 100_000,
            "a list": "[]",
            "a day that is none": '{"now": "0001-01-01"}',
        }
        path.write_text(texts.get(kind, "{}"), encoding="utf-8")
    with served(tmp_path / "place", run=good) as url:
        assert a_page(f"{url}/volume/{ONE}")[0] == 200
        assert a_page(url)[0] == 200
    with served(tmp_path / "newest") as url:
        for address in ("", "/state.json", "/metrics", f"/volume/{ONE}"):
            assert a_page(url + address)[0] in {200, 404, 503}


@pytest.mark.parametrize("name", ["recommendations.json", "demand.jsonl", "run.json", "journal.jsonl"])
@pytest.mark.parametrize("spoil", ["pipe", "folder", "nonsense"])
def test_a_broken_file_of_the_run_itself_is_told_in_a_sentence(runs, tmp_path, name, spoil):
    pytest.importorskip("uvicorn")
    folder = a_run(runs / "one", [a_record(volume_id="vol-1")])
    (folder / name).unlink()
    if spoil == "pipe":
        os.mkfifo(folder / name)
    elif spoil == "folder":
        (folder / name).mkdir()
    else:
        (folder / name).write_bytes(b"\xff{[")
    with served(tmp_path / "place", run=folder) as url:
        for address in ("", "/state.json", "/metrics", f"/volume/{ONE}"):
            assert a_page(url + address)[0] in {200, 404, 503}
