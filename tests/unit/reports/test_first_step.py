"""The first step gives nothing up, and what it saves is the same number wherever it is told."""

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given

from plimsoll.reports.data.database import open_runs
from plimsoll.reports.data.exports import csv_lines
from plimsoll.reports.markdown.run import run_markdown
from plimsoll.reports.run_reader import read_run, stream_records
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.story.run import tell_headline
from plimsoll.reports.terminal.run import show_run
from plimsoll.reports.wording import usd
from plimsoll_service.slack.blocks.report import run_conversation
from tests.unit.reports.html.pages import read_page, written
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.reports.strategies import fleets
from tests.unit.reports.terminal.test_run import a_console
from tests.unit.service.slack.blocks.said import said


def sums_of(folder: Path) -> dict[str, float]:
    """What the first step saves, by each place that tells it as a figure."""
    records = list(stream_records(folder))
    table = list(csv.DictReader(io.StringIO("".join(csv_lines(folder, None)))))
    with open_runs(folder) as database:
        ((in_sql,),) = database.rows(
            "select coalesce(sum(monthly_usd_saved), 0) from recommendations where step = 'safe'"
        )
    page = read_page(written(folder))
    columns = [(block["step"], block["saved"]) for block in page.rows]
    rows = [pair for steps, saved in columns for pair in zip(steps, saved, strict=True)]
    step = read_run(folder).steps.get("safe")
    return {
        "run.json": step.monthly_usd.saved if step else 0.0,
        "records": sum(record.monthly_usd_saved for record in records if step_of(record) is Step.SAFE),
        "csv": sum(float(row["monthly_usd_saved"]) for row in table if row["step"] == "safe"),
        "sql": in_sql,
        "page": sum(saved for name, saved in rows if name == "safe" and saved is not None),
    }


@given(fleets())
def test_every_place_tells_the_same_number_and_nothing_in_it_gives_anything_up(records):
    priced = [one.model_copy(update={"monthly_usd_now": 1.0 + abs(one.monthly_usd_saved)}) for one in records]
    with TemporaryDirectory() as there:
        folder = a_run(Path(there) / "run", priced)
        found = sums_of(folder)
        assert len({round(figure, 2) for figure in found.values()}) == 1, found
        first = [record for record in stream_records(folder) if step_of(record) is Step.SAFE]
        assert not any(record.losses or record.cuts or record.blockers for record in first)


def test_the_headlines_of_people_are_that_number():
    records = [
        a_record(volume_id="vol-1", cuts=[], losses=[], monthly_usd_saved=12.34),
        a_record(volume_id="vol-2", cuts=[], losses=[], monthly_usd_saved=56.66),
        a_record(volume_id="vol-3", monthly_usd_saved=7566.0),
    ]
    told = usd(69.0)
    with TemporaryDirectory() as there:
        folder = a_run(Path(there) / "run", records)
        assert set(sums_of(folder).values()) == {69.0}
        assert tell_headline(read_run(folder), whole=True).first == f"Take {told} a month now: nothing is given up."
        assert f"Take {told} a month now: nothing is given up." in read_page(written(folder)).text
        assert f"Take now, nothing given up: 2 volumes, saves {told} a month" in said(run_conversation(folder).main)
        assert f"saves {told} a month" in run_markdown(folder, None, "")
        console = a_console(160)
        show_run(console, read_run(folder), ())
        assert f"saves {told} a month" in console.file.getvalue()
