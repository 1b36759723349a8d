"""Reports of pools: who shares a ceiling, what writes alone are carried, and the busiest seconds, in every form."""

import csv
import io
import json

import jsonschema
import pytest
from rich.cells import cell_len
from rich.console import Console

from plimsoll.model.policy import Policy
from plimsoll.reports.answers import record_of
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.markdown.run import ticket
from plimsoll.reports.record import FIRST_PROVIDER, schema
from plimsoll.reports.run_files import RECOMMENDATIONS, TABLE
from plimsoll.reports.run_folder import RunFolder
from plimsoll.reports.run_reader import read_records
from plimsoll.reports.terminal.explain import show_explanation
from plimsoll.reports.terminal.run import savings_table
from plimsoll_service.slack.blocks.digest import list_volume
from tests.unit.domain.groups.test_decide_pools import a_disk, flat, judged
from tests.unit.domain.pooled_market import a_capped_host
from tests.unit.reports.plain_runs import a_plain_run

NEW = {"ceilings": ("write_iops", "write_throughput_mib_s"), "demand": ("peak_second_iops",)}
"""What runs of earlier versions know nothing of, besides the pool."""


@pytest.fixture(scope="module")
def member():
    """One of two disks that move from a pooled type together; of their host, writes alone have 4,000 IOPS."""
    host = a_capped_host(write_iops=4000.0)
    volumes = [a_disk("boot", "fast", 50, host=host), a_disk("data", "fast", 1000, host=host)]
    return judged(volumes, {"boot": flat(20), "data": flat(1200)})["boot"]


def explained(width, recommendation):
    console = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)
    show_explanation(console, recommendation, None, record_of(recommendation, provider="google"), None)
    return console.file.getvalue()


def run_of(folder, record):
    with RunFolder(folder) as written:
        written.add(record)
        written.describe(a_plain_run())
    return folder / RECOMMENDATIONS


def test_records_of_pools_satisfy_the_schema_and_survive_the_file(tmp_path, member):
    record = record_of(member, provider=FIRST_PROVIDER)
    assert record.pool == ["data"]
    written = run_of(tmp_path, record)
    jsonschema.validate(json.loads(written.read_text(encoding="utf-8")), schema())
    assert read_records(tmp_path) == [record]
    (line,) = csv.DictReader((tmp_path / TABLE).read_text(encoding="utf-8-sig").splitlines())
    assert line["pool"] == "data"
    assert float(line["peak_second_iops"]) == record.demand.peak_second_iops > 0
    assert float(line["peak_second_throughput_mib_s"]) == record.demand.peak_second_throughput_mib_s > 0


def test_what_writes_alone_are_carried_is_known_only_where_it_is_another_figure(member):
    ceilings = record_of(member, provider=FIRST_PROVIDER).ceilings
    assert (ceilings.hosts.iops, ceilings.hosts.write_iops) == (15_000, 4_000)
    assert ceilings.hosts.write_throughput_mib_s is None


def test_sql_reaches_the_pool_also_of_runs_that_knew_none(tmp_path, member):
    path = run_of(tmp_path, record_of(member, provider=FIRST_PROVIDER))
    asked = "select pool, ceilings.hosts.write_iops, demand.peak_second_iops from recommendations"
    with open_runs(tmp_path) as database:
        assert list(database.rows(asked)) == [(["data"], 4_000.0, member.demand.peak_second_iops)]
    (known,) = json.loads(path.read_text(encoding="utf-8"))
    del known["pool"]
    for key in NEW["ceilings"]:
        for ceiling in known["ceilings"].values():
            del ceiling[key]
    for key in NEW["demand"]:
        del known["demand"][key]
    (tmp_path / "checksums.json").unlink()
    path.write_text(json.dumps([known]), encoding="utf-8")
    (read,) = read_records(tmp_path)
    assert (read.pool, read.ceilings.hosts.write_iops) == ([], None)
    with open_runs(tmp_path) as database:
        assert list(database.rows(asked)) == [([], None, None)]


def test_an_explanation_has_the_limits_of_writes_and_who_shares_them(member):
    text = explained(120, member)
    (line,) = [line for line in text.splitlines() if line.startswith("its hosts at most, writes alone")]
    assert line.split()[-2:] == ["4,000", "240"]
    assert "busiest seconds" in text
    assert "with data: all are judged together" in text
    assert all(cell_len(line) <= 80 for line in explained(80, member).splitlines())


def test_lists_and_tickets_say_that_a_volume_goes_with_its_pool(member):
    record = record_of(member, provider="google")
    console = Console(file=io.StringIO(), width=160, force_terminal=False, color_system=None)
    console.print(savings_table([record], 160))
    assert "with its pool of 2 volumes" in console.file.getvalue()
    assert "is changed together with: `data`" in ticket(record, Policy(), "https://console.example")
    assert list_volume(record).risk.startswith("Changed together with its pool of 2 volumes.")
