"""Reports of stripe sets: the record keeps to the schema, the table shows every volume, the host and who holds back."""

import csv
import io
import json

import jsonschema
import pytest
from rich.cells import cell_len
from rich.console import Console

from plimsoll.decide.case_maker import case_of
from plimsoll.decide.groups import Unit
from plimsoll.decide.stripes import decide_together
from plimsoll.demand.host_room import host_loads
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER, schema
from plimsoll.reports.run_files import RECOMMENDATIONS, TABLE
from plimsoll.reports.run_folder import RunFolder
from plimsoll.reports.run_reader import read_records
from plimsoll.reports.terminal.explain import show_explanation
from plimsoll.reports.terminal.run import savings_table
from tests.builders import a_basis, a_demand, a_host, a_stripe_set, a_volume


def a_member(*, host="r5b.large", held=None):
    """The first of two gp3 of 1,000 MiB/s that are one device; the second may be held."""
    fields = {"iops": 4_000, "throughput_mib_s": 1_000, "on": a_host(host)}
    volumes = [a_volume("gp3", 101, id=name, **fields) for name in ("vol-a", "vol-b")]
    demands = {volume.id: a_demand(2_000, 400) for volume in volumes}
    load, context = host_loads(volumes, demands)["i-1"], a_basis()
    held = {} if held is None else {"vol-b": held}
    cases = [case_of(volume, demands[volume.id], load, context) for volume in volumes if volume.id not in held]
    stripes = a_stripe_set("vol-a", "vol-b", mounts=("/data",))
    return decide_together(Unit(stripes=stripes, volumes=volumes, held=held), cases, None)["vol-a"]


def explained(width, recommendation):
    console = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)
    show_explanation(
        console, recommendation, a_demand(2_000, 400), record_of(recommendation, provider=FIRST_PROVIDER), None
    )
    return console.file.getvalue()


def row(text, start):
    return next(line for line in text.splitlines() if line.startswith(start))


def test_an_explanation_shows_the_set_against_its_host():
    text = explained(120, a_member())
    assert "stripe set md0 (raid0, 2 volumes) on i-1" in text
    for name in ("vol-a", "vol-b"):
        line = [found for found in text.splitlines() if found.startswith(name) and "peak" in found]
        assert line[0].split()[-2:] == ["2,000", "400.0"]
    assert row(text, "all together").split()[-2:] == ["8,000", "2,000"]
    assert row(text, "i-1").split()[-2:] == ["43,333", "1,192"]
    assert "sustained" in text
    assert "5,417" in text
    assert "149" in text


def test_a_host_without_limits_is_not_known_and_says_nothing():
    text = explained(120, a_member(host="t2.micro"))
    assert row(text, "i-1").endswith("not known  not known")
    assert "is waste" not in text


def test_who_holds_a_set_back_is_shown():
    recommendation = a_member(held="it could not be read: no permission")
    assert "held back: it could not be read: no permission" in "".join(explained(160, recommendation).split("\n"))
    record = record_of(recommendation, provider=FIRST_PROVIDER).stripe_set
    assert record.held_back_by == {"vol-b": "it could not be read: no permission"}
    assert (record.monthly_usd_now, record.monthly_usd_then, record.monthly_usd_saved) == (None, None, None)


@pytest.mark.parametrize("width", [80, 160])
def test_no_line_of_it_is_wider_than_the_console(width):
    for recommendation in (a_member(), a_member(held="it could not be read: " + "because " * 40)):
        assert all(cell_len(line) <= width for line in explained(width, recommendation).splitlines())


def test_records_of_sets_satisfy_the_schema_and_survive_the_file(tmp_path):
    record = record_of(a_member(), provider=FIRST_PROVIDER)
    with RunFolder(tmp_path) as folder:
        folder.add(record)
    jsonschema.validate(json.loads((tmp_path / RECOMMENDATIONS).read_text(encoding="utf-8")), schema())
    assert read_records(tmp_path) == [record]
    (line,) = csv.DictReader((tmp_path / TABLE).read_text(encoding="utf-8").splitlines())
    assert line["stripe_set"] == "md0"


def test_runs_that_knew_of_no_sets_can_still_be_read(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.add(record_of(a_member(), provider=FIRST_PROVIDER))
    path = tmp_path / RECOMMENDATIONS
    (known,) = json.loads(path.read_text(encoding="utf-8"))
    del known["stripe_set"]
    (tmp_path / "checksums.json").unlink()
    path.write_text(json.dumps([known]), encoding="utf-8")
    (read,) = read_records(tmp_path)
    assert read.stripe_set is None


def test_best_savings_say_that_a_volume_goes_with_its_set():
    console = Console(file=io.StringIO(), width=160, force_terminal=False, color_system=None)
    console.print(savings_table([record_of(a_member(), provider=FIRST_PROVIDER)], 160))
    assert "with all of md0" in console.file.getvalue()
