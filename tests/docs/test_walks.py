"""CONTRIBUTING's walks are complete: who touches the files that a walk lists, and no others, has added the thing."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.cli.report import FORMATS
from tests.docs.walks import ROOT, Copy, files_naming, files_of

WALKS = (
    "A cloud",
    "A volume type",
    "A metric",
    "A policy key",
    "A key of a record",
    "A kind of answer",
    "A command",
    "A report format",
    "A Slack button",
)

A_TYPE = """  gp4:
    source: Amazon EBS User Guide, a type of next year
    size_gib: [1, 65536]
    io_kib: 256
    iops: {least: 3000, most: 80000, per_gib: 500, included: 3000}
    throughput_mib_s: {least: 125, most: 2000, per_iops: 0.25, included: 125}
    latency: single-digit-ms
    durability_pct: 99.8
    boots: true
    multi_attach: false
    target: true
"""
A_PRICE = (
    "    gp4: {gib_month: 0.01, iops_month: 0.001, included_iops: 3000, throughput_mib_s_month: 0.01, "
    "included_throughput_mib_s: 125}\n"
)
AUDITED = """
from plimsoll.clouds.common.dated_data import shipped_prices
from tests.builders import a_volume
from tests.pipelines.test_audit import a_world, by_volume, outcomes

found = outcomes(a_world([a_volume("gp2", 500)], books={"us-east-1": shipped_prices("aws").book("us-east-1")}))
print(by_volume(found)["vol-1"].recommendation.target.spec)
"""


A_COMMAND = '''
"""Wave at volumes."""

from typing import Annotated, Final

import typer

_LISTED: Final = ("Look back", 0)


def wave_command(times: Annotated[int, typer.Option(help="How often.")] = 1) -> None:
    typer.echo(" ".join(["hello"] * times))
'''.lstrip()
COMMANDED = """
from typer.testing import CliRunner

from plimsoll.cli.main import app

for words in (["--help-all"], ["wave", "--help"], ["wave", "--times", "2"]):
    print(CliRunner().invoke(app, words, env={"COLUMNS": "80", "TERM": "dumb"}).output, end="\\n---\\n")
"""
A_REPORT = '''
"""A run in words."""

from pathlib import Path

from plimsoll.reports.run_reader import stream_records


def in_words(folder: Path) -> list[str]:
    return [f"{record.action} {record.volume_id}\\n" for record in stream_records(folder)]
'''
A_BUTTON = '''
"""Wave: says hello."""

from plimsoll_service.slack.actions.action import ActionContext, ActionPlace, SlackAction
from plimsoll_service.slack.blocks.message import SlackMessage


def _perform(work: ActionContext) -> None:
    work.answers.to_all(SlackMessage.compose("Hello", []))


WAVE = SlackAction(name="wave", label="Wave", shown=ActionPlace.BUTTON, perform=_perform)
'''
REPORTED = """
import sys
from pathlib import Path

from plimsoll.cli.main import main
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

run = a_run(Path("run"), [a_record(volume_id="vol-1")])
sys.argv = ["plimsoll", "report", str(run), "--out", "-", "--format", sys.argv[1]]
main()
"""

POLICIES = """
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.cli.option_values import policy_from
from plimsoll.cli.options import AuditPolicyOptions, PolicyKeyOptions
from plimsoll.model.errors import PolicyError

print(CliRunner().invoke(app, ["audit", "--help-all"], env={"COLUMNS": "200"}).output)
print(policy_from(AuditPolicyOptions(own=PolicyKeyOptions(spare_pct=30))).spare_pct)
try:
    policy_from(AuditPolicyOptions(set_=["spare_pct=60"]))
except PolicyError as error:
    print(error)
"""


A_KEY = """    burst_minutes: Annotated[
        float | None, At(lambda answer: answer.comparison and answer.comparison.present.burst_s / 61)
    ] = Field(default=None, description="for how long full credits last")
"""
RECORDED = """
import json

from plimsoll.reports.data.column_types import column_types
from plimsoll.reports.record import RecommendationRecord, schema
from tests.unit.reports.recommendations import a_record

record = json.loads(a_record("migrate").model_dump_json())
print(record.pop("burst_minutes"), a_record("detached").burst_minutes)
print(RecommendationRecord.model_validate(record).burst_minutes, column_types(RecommendationRecord)["burst_minutes"])
print(schema()["items"]["properties"]["burst_minutes"]["description"])
"""

A_SERIES = '    _check("reads_exceeded", _IOPS),\n'
A_QUERY = '    "reads_exceeded": "VolumeReadIOPSExceededCheck",\n'
SIMULATED = """    SimulatedSeries(
        name="reads_exceeded",
        metric="VolumeReadIOPSExceededCheck",
        unit="None",
        usual_stat="Maximum",
        made=lambda served: (served.reads > 300 * 60).astype(float),
        attached=True,
    ),
"""
THROTTLED = """
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from cloud_simulator.aws.fleet import Fleet, volume_truth
from cloud_simulator.aws.volume_maker import VolumeMaker, gp2
from cloud_simulator.metrics.workloads import Archetype
from plimsoll.reading.window import Window
from plimsoll.model.policy import Policy
from tests.pipelines.in_process import audited
from tests.pipelines.organization_here import served_here

now, place = datetime.now(UTC).replace(microsecond=0), ("111111111111", "us-east-1")
maker = VolumeMaker(now, *place, 0)
volume = maker.volume(gp2(500), Archetype.STEADY, "app", low=100, high=600)
fleet = Fleet(now=now, accounts=place[:1], regions=place[1:], volumes=tuple(maker.volumes))
with served_here(fleet) as (there, _):
    audited(there, Path("run"), now, Policy(lookback_days=2))
(record,) = json.loads(Path("run/recommendations.json").read_text())
truth = volume_truth(volume, Window.before(now, days=2))
checks = [check for name, check in truth.series.items() if name.endswith("_exceeded")]
print(record["demand"]["throttled_minutes"], int((np.array(checks) > 0).any(axis=0).sum()))
"""


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


@pytest.mark.parametrize("walk", WALKS)
def test_every_file_of_a_walk_exists(walk):
    files = files_of(walk)
    assert files
    assert [path for path in files if not (ROOT / path).exists()] == []


def test_a_volume_type_is_data_alone(copy):
    limits, prices = files_of("A volume type")
    assert copy.run(AUDITED) == "gp3 500 GiB 3,000 IOPS 125 MiB/s"
    copy.replace(limits, "types:\n", f"types:\n{A_TYPE}")
    written = (ROOT / prices).read_text(encoding="utf-8").split("\n  us-east-1:\n")[1].splitlines(keepends=True)[0]
    copy.replace(prices, f"\n  us-east-1:\n{written}", f"\n  us-east-1:\n{written}{A_PRICE}")
    assert copy.run(AUDITED) == "gp4 500 GiB 3,000 IOPS 250 MiB/s"  # a drop-in replacement, which saves nearly as much


def test_a_metric_is_known_to_the_files_that_its_walk_lists():
    assert files_naming("throughput_exceeded", "lib") == sorted(files_of("A metric"))


def test_a_policy_key_is_known_to_the_files_that_its_walk_lists():
    assert files_naming("headroom_pct", "lib") == sorted(files_of("A policy key"))


def test_a_policy_key_is_one_line_with_its_default_its_bounds_and_its_option(copy):
    policy, *_ = files_of("A policy key")
    line = '    spare_pct: Annotated[float, Bounds(0, 50), OwnOption("Spare room, in percent")] = 5.0\n'
    copy.replace(policy, "    headroom_from: HeadroomFrom", f"{line}    headroom_from: HeadroomFrom")
    told = copy.run(POLICIES)
    assert "--spare-pct" in told
    assert "Spare room, in percent (5)." in told
    assert told.splitlines()[-2:] == ["30.0", "policy key spare_pct is 60.0; it must be from 0 to 50."]


def test_a_key_of_a_record_is_one_line_with_its_origin_and_its_default(copy):
    (record,) = files_of("A key of a record")
    copy.replace(record, "    ceilings: Annotated[", f"{A_KEY}    ceilings: Annotated[")
    assert copy.run(RECORDED).splitlines() == ["59.0 None", "None DOUBLE", "for how long full credits last"]


def test_a_metric_is_a_row_in_each_file_of_its_walk(copy):
    series, queries, simulated = files_of("A metric")
    copy.replace(series, '    _check("throughput_exceeded"', f'{A_SERIES}    _check("throughput_exceeded"')
    copy.replace(queries, '    "throughput_exceeded":', f'{A_QUERY}    "throughput_exceeded":')
    copy.replace(simulated, '    _check("throughput_exceeded"', f'{SIMULATED}    _check("throughput_exceeded"')
    throttled, raised = copy.run(THROTTLED).split()
    assert float(throttled) == int(raised) > 100


def test_a_cloud_is_the_package_and_the_row_that_the_tests_third_cloud_has():
    row, *package = files_of("A cloud")
    assert row == "lib/plimsoll/clouds/registry.py"
    third = {path.name for path in (ROOT / "tests" / "third_cloud").rglob("*") if path.suffix in {".py", ".yaml"}} - {
        "__init__.py"
    }
    assert {Path(path).name for path in package} == third
    taken = (ROOT / "tests" / "unit" / "clouds" / "test_third_cloud.py").read_text(encoding="utf-8")
    assert "audit" in taken
    assert "explain" in taken


def test_a_command_is_one_file(copy):
    (sweep,) = files_of("A command")
    copy.write(str(Path(sweep).with_name("wave.py")), A_COMMAND)
    listed, shown, waved = copy.run(COMMANDED).removesuffix("---").split("\n---\n")
    assert re.findall(r"^│ (\S+) ", listed.partition("Look back")[2], re.MULTILINE)[:2] == ["wave", "backtest"]
    assert "Wave at volumes." in shown
    assert "--times" in shown
    assert waved.strip() == "hello hello"
    assert files_naming("wave_command", "lib") == []


def test_a_report_format_is_a_module_and_a_row(copy):
    (row,) = files_of("A report format")
    copy.write("lib/plimsoll/reports/words.py", A_REPORT)
    copy.replace(
        row,
        '        ReportFormat(name="html"',
        '        ReportFormat(name="words", file="words.txt", lines=lambda report: in_words(report.folder)),\n'
        '        ReportFormat(name="html"',
    )
    copy.replace(row, "\n\nif TYPE_CHECKING", "\nfrom plimsoll.reports.words import in_words\n\nif TYPE_CHECKING")
    assert copy.run(REPORTED, "words") == "migrate vol-1"


def test_help_names_the_formats_that_there_are():
    shown = CliRunner().invoke(app, ["report", "--help"], env={"COLUMNS": "200"}).output
    assert " or ".join([", ".join(list(FORMATS)[:-1]), list(FORMATS)[-1]]) in shown


def test_a_slack_button_is_a_module_and_a_row(copy):
    registry, module = files_of("A Slack button")
    copy.write(str(Path(module).with_name("wave.py")), A_BUTTON)
    copy.replace(
        registry,
        "from plimsoll_service.slack.blocks",
        "from plimsoll_service.slack.actions.wave import WAVE\nfrom plimsoll_service.slack.blocks",
    )
    copy.replace(registry, "        SAVINGS_ACTION,\n", "        SAVINGS_ACTION,\n        WAVE,\n")
    assert '"Wave"' in copy.run(REPORTED, "slack")


def test_a_slack_button_is_known_to_its_module_and_the_registry_alone():
    known = set(files_naming("snooze", "lib", "functions"))
    assert known - {"lib/plimsoll/model/people.py"} == set(files_of("A Slack button"))
