"""A kind of answer is a row and the rule that gives it: taken on a copy of the library, every report has a new one."""

import json

from tests.docs.walks import Copy, files_of
from tests.gates.figures import files_of_a_kind

A_KIND = """    Kind(
        "forgotten",
        8,
        CountsAs.COST,
        "magenta",
        "forgotten by everybody",
        "{now}, forgotten by everybody",
        title="Ask who remembers",
        why="Paid for, and nobody knows what for.",
    ),
"""
A_RULE = """    if "forgotten" in volume.tags:
        usd_month = context.market.book.usd_month(volume.spec)
        return Unweighed(action="forgotten", volume=volume, usd_month_now=usd_month, reasons=(detached_peer(1),))
"""
TOLD = """
import base64, gzip, json, re
from io import StringIO
from pathlib import Path

from rich.console import Console

from plimsoll.outcomes import Answered
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.diff.comparison import compare_runs
from plimsoll.reports.diff.render import json_diff, markdown_diff
from plimsoll.reports.markdown.run import run_markdown
from plimsoll.reports.record import schema
from plimsoll.reports.run_reader import read_run
from plimsoll.reports.terminal.run import show_run
from plimsoll.reports.answers import answered_record
from plimsoll_service.events import audit_event, recommendation_event
from plimsoll_service.queries import QUERIES
from plimsoll_service.slack.blocks.report import run_conversation, savings_message
from tests.builders import a_volume
from tests.pipelines.test_audit import a_world, outcomes
from tests.unit.reports.html.pages import read_page, written
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

volumes = [a_volume("gp2", 500, id="vol-f", tags={"forgotten": ""})]
record, = [answered_record(one) for one in outcomes(a_world(volumes)) if isinstance(one, Answered)]
before, after = a_run(Path("before"), [record]), a_run(Path("after"), [record, a_record("migrate", volume_id="vol-m")])
gone = a_run(Path("gone"), [a_record("migrate", volume_id="vol-m")])
run, terminal = read_run(after), Console(file=StringIO(), width=160)
show_run(terminal, run, [])
page = read_page(written(after))
settings = re.search('id="settings">([^<]+)<', page.source)
with open_runs(after) as database:
    asked = "select step, count(*), sum(monthly_usd_now) from recommendations where step = 'forgotten' group by 1"
    sql = list(database.rows(asked))
with compare_runs(before, after) as diff, compare_runs(before, gone) as done:
    still, notes = json.loads("".join(json_diff(diff))), markdown_diff(diff)
    groups = {str(group): total.volumes for group, total in done.totals.items()}
print(json.dumps({
    "record": [record.action, record.monthly_usd_now, record.monthly_usd_saved],
    "run": [run.actions, run.monthly_usd.plain, run.steps["forgotten"].plain, run.plain["forgotten"]],
    "terminal": terminal.file.getvalue(),
    "markdown": run_markdown(after, None, ""),
    "page": page.text,
    "row": page.rows[0]["step"],
    "settings": json.loads(gzip.decompress(base64.b64decode(settings[1]))),
    "sql": sql,
    "query": QUERIES["savings-by-account"].sql,
    "diff": still,
    "notes": notes,
    "done": groups,
    "events": [recommendation_event(record, "r")[1], audit_event(run, "s3://b/k")[1]],
    "slack": [run_conversation(after).main.payload, savings_message(run, "here").payload],
    "schema": schema()["items"]["properties"]["action"],
}, default=str))
"""


def test_every_report_has_a_kind_that_is_a_row_and_a_rule(tmp_path):
    copy = Copy(tmp_path)
    table, rule = files_of("A kind of answer")
    copy.replace(table, "_ROWS: Final = (\n", f"_ROWS: Final = (\n{A_KIND}")
    copy.replace(rule, "    kind = kind_by_state(volume)\n", f"{A_RULE}    kind = kind_by_state(volume)\n")
    told = json.loads(copy.run(TOLD))
    assert told["record"] == ["forgotten", 50.0, 0.0]
    actions, money, step, groups = told["run"]
    assert actions == {"forgotten": 1, "migrate": 1}
    assert (money["forgotten"], money["detached"], step["volumes"]) == (50.0, 0.0, 1)
    assert [(group["volumes"], group["monthly_usd"]) for group in groups] == [(1, 50.0)]
    assert money["saved"] > 0
    for text in (told["terminal"], told["markdown"], told["page"]):
        assert "Ask who remembers" in text
        assert "Forgotten by everybody, by owner and year" in text
    assert "paid for, forgotten by everybody" in told["terminal"]
    for text in (" ".join(told["terminal"].split()), told["page"]):
        assert "$50.00 a month for what is forgotten by everybody" in text
    assert told["settings"]["kinds"]["forgotten"]["counts_as"] == "cost"
    assert told["settings"]["steps"]["forgotten"] == {
        "name": "forgotten",
        "why": "Paid for, and nobody knows what for.",
        "color": "magenta",
    }
    assert sorted(told["row"]) == ["forgotten", "measure"]
    assert told["sql"] == [["forgotten", 1, 50.0]]
    assert "not in ('detached', 'forgotten')" in told["query"]
    assert told["diff"]["monthly_usd_open_forgotten"] == 50.0
    assert told["diff"]["monthly_usd_open"] == 0.0
    assert "1 volume forgotten by everybody" in told["notes"]
    assert told["done"]["done"] == 1
    recommended, completed = told["events"]
    assert (recommended["action"], recommended["step"]) == ("forgotten", "forgotten")
    assert completed["monthly_usd"]["forgotten"] == 50.0
    report, savings = (json.dumps(payload) for payload in told["slack"])
    assert "Ask who remembers" in report
    assert "$50.00 a month for what is forgotten by everybody" in savings
    assert "forgotten" in told["schema"]["enum"]


def test_a_kind_is_known_to_the_table_and_its_rule_alone():
    assert [f"lib/{path}" for path in files_of_a_kind()] == sorted(files_of("A kind of answer"))
