"""What a probe saw of a volume, from its book into the data and the page of an audit."""

from dataclasses import replace
from pathlib import Path

import duckdb

from plimsoll.auditing.audit import run_audit
from plimsoll.clouds.probe_book import ProbeBook, ProbeLine
from plimsoll.outcomes import Answered
from plimsoll.reports.answers import answered_record
from plimsoll.reports.data.database import open_runs, select
from plimsoll.reports.data.exports import write_parquet
from plimsoll.reports.run_reader import read_records
from tests.builders import NOW, a_policy, a_volume
from tests.unit.reports.html.pages import read_page, written
from tests.unit.reports.runs import a_run
from tests.unit.reports.test_seconds_seen import seen

from .test_audit import a_world

POLICY = a_policy(lookback_days=2)


def audited(folder: Path):
    """The records of two volumes, of which one was probed, twice."""
    volumes = [a_volume("gp2", 1_000, id=name) for name in ("vol-1", "vol-2")]
    book = ProbeBook(folder=folder)
    for peak_queue in (7, 118):
        one = seen(volume_id="vol-1", most_queue=peak_queue)
        book.add(ProbeLine(account=volumes[0].account, region=volumes[0].region, host_id="i-1", seen=one))
    ports = replace(a_world(volumes), seen=book.latest_of_each())
    return [answered_record(one) for one in run_audit(ports, POLICY, NOW) if isinstance(one, Answered)]


def test_an_audit_has_what_the_latest_probe_saw_of_a_volume_and_nothing_of_others(tmp_path):
    found = {one.volume_id: one.seconds_seen for one in audited(tmp_path)}
    assert found["vol-2"] is None
    assert (found["vol-1"].peak_iops, found["vol-1"].most_queue) == (3_000, 118)
    assert any("the offer would sustain" in line for line in found["vol-1"].lines)


def test_it_is_in_the_json_the_parquet_and_the_page_of_the_run(tmp_path):
    run = a_run(tmp_path / "run", audited(tmp_path))
    assert {one.volume_id: one.seconds_seen is not None for one in read_records(run)} == {"vol-1": True, "vol-2": False}
    with open_runs(run) as database:
        write_parquet(database, tmp_path / "out", select(database, None, ()))
    (path,) = (tmp_path / "out").glob("recommendations.parquet")
    asked = f"select seconds_seen.peak_iops, seconds_seen.exceeded_volume_iops_s from '{path}' order by volume_id"
    assert duckdb.sql(asked).fetchall() == [(3_000.0, 9.24), (None, None)]
    page = read_page(written(run))
    shown = [one["record"]["seconds_seen"] for block in page.details for one in block]
    (lines,) = [one["lines"] for one in shown if one is not None]
    assert any(line.startswith("busiest second: 3,000 IOPS") for line in lines)
