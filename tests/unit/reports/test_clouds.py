"""Reports call each cloud's things by its own names, and tell clouds apart only where there are several."""

import io
import json

import pytest
from rich.console import Console

from plimsoll.bootstrap.consoles import console_link
from plimsoll.files import CHECKSUMS
from plimsoll.model.policy import Policy
from plimsoll.outcomes import Answered
from plimsoll.ports import Target
from plimsoll.reports.answers import answered_record
from plimsoll.reports.csv_table import header, row
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.diff.comparison import compare_runs
from plimsoll.reports.diff.render import json_diff
from plimsoll.reports.html.page import breakdowns
from plimsoll.reports.markdown.run import ticket
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_folder import RunFolder
from plimsoll.reports.run_reader import read_records
from plimsoll.reports.story.run import group_notices
from plimsoll.reports.terminal.run import show_plan, show_run
from plimsoll.reports.totals import DIMENSIONS, RunTotals
from plimsoll.reports.wording import calls_in, clouds_of, words_of
from plimsoll_service.slack.blocks.elements import link as slack_link
from tests.builders import NOW
from tests.unit.reports.plain_runs import a_plain_run, a_run_record
from tests.unit.service.slack.blocks.said import told_of

from .html.pages import read_page, written
from .recommendations import a_record, every_action
from .runs import a_run as a_folder
from .runs import an_unanswered

AWS = a_record(volume_id="vol-1")
DISK = a_record(volume_id="9000", account="plimsoll-shop", region="us-central1", provider="google")
PLAN = dict.fromkeys(
    (
        "volumes",
        "calls",
        "metrics",
        "datapoints",
        "least_datapoints",
        "most_datapoints",
        "seconds",
        "estimated_usd",
    ),
    1,
)


def a_run(*records):
    totals = RunTotals()
    for record in records:
        totals.add(record)
    usage = {"calls": 3, "metrics": 4, "datapoints": 5, "estimated_usd": 0.0}
    return a_run_record(totals, usage=usage, plan={"most_datapoints": 0})


def asked(clouds):
    return {cloud: {"volumes": 0, "monthly_usd": {"now": 0.0, "saved": 0.0}} for cloud in clouds}


def shown(run, width=160):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show_run(console, run, [])
    return console.file.getvalue()


def test_a_record_names_the_cloud_of_its_target():
    target = Target(account="plimsoll-shop", region="us-central1", provider="google")
    record = answered_record(Answered(target=target, recommendation=every_action()["migrate"]))
    assert record.provider == "google"


def test_a_record_of_an_earlier_version_is_of_aws():
    written = AWS.model_dump(mode="json")
    del written["provider"]
    assert RecommendationRecord.model_validate_json(json.dumps(written)) == AWS


@pytest.mark.parametrize("record", [AWS, DISK])
def test_the_cloud_is_in_the_table_and_in_the_views(tmp_path, record):
    assert dict(zip(header(), row(record), strict=True))["provider"] == record.provider
    with RunFolder(tmp_path) as folder:
        folder.add(record)
        folder.describe(a_plain_run())
    assert read_records(tmp_path) == [record]
    with open_runs(tmp_path) as database:
        assert list(database.rows("select provider from recommendations")) == [(record.provider,)]


def test_the_views_of_a_run_of_an_earlier_version_say_aws(tmp_path):
    written = AWS.model_dump(mode="json")
    del written["provider"]
    (tmp_path / "recommendations.json").write_text(json.dumps([written]), encoding="utf-8")
    (tmp_path / "run.json").write_text(json.dumps(a_plain_run()), encoding="utf-8")
    with open_runs(tmp_path) as database:
        assert list(database.rows("select provider from recommendations")) == [("aws",)]


def test_volumes_without_an_answer_and_differences_name_their_cloud_also_of_earlier_versions(tmp_path):
    failed = an_unanswered("9001").model_copy(update={"account": "plimsoll-shop", "provider": "google"})
    known = an_unanswered("vol-9")
    before, after = (
        a_folder(tmp_path / "one", [AWS, DISK]),
        a_folder(tmp_path / "two", [], unanswered=[failed]),
    )
    with (after / "unanswered.jsonl").open("a", encoding="utf-8") as file:
        file.write(known.model_dump_json(exclude={"provider"}) + "\n")
    (after / CHECKSUMS).unlink()  # an earlier version wrote none
    with open_runs(after) as database:
        rows = list(database.rows("select volume_id, provider from failures order by all"))
    assert rows == [("9001", "google"), ("vol-9", "aws")]
    with compare_runs(before, after) as diff:
        volumes = json.loads("".join(json_diff(diff)))["volumes"]
    assert {one["volume_id"]: one["provider"] for one in volumes} == {
        "vol-1": "aws",
        "9000": "google",
        "9001": "google",
        "vol-9": "aws",
    }
    assert all("provider" not in (one["before"] or {}) for one in volumes)


@pytest.mark.parametrize("width", [80, 160])
def test_the_screen_tells_clouds_apart_where_there_are_several(width):
    text = shown(a_run(AWS, DISK), width)
    assert "In AWS" in text
    assert "In Google Cloud" in text
    assert "calls of GetMetricData and ListTimeSeries" in " ".join(text.split())
    assert all(len(line) <= width for line in text.splitlines())


def test_the_screen_of_one_cloud_names_none_beside_its_calls():
    assert "In AWS" not in shown(a_run(AWS))
    assert "3 calls of GetMetricData" in shown(a_run(AWS))
    assert "3 calls of ListTimeSeries" in shown(a_run(DISK))


def test_a_run_of_an_earlier_version_asked_aws():
    assert clouds_of(a_run_record(clouds={})) == ("aws",)
    assert calls_in(clouds_of(a_run_record(clouds={}))) == "GetMetricData"


def test_a_plan_says_who_bills_and_by_which_settings_it_is_reckoned():
    console = Console(file=io.StringIO(), width=160, color_system=None)
    show_plan(console, PLAN, {}, {"aws": 0.00001, "google": 0.0005})
    text = console.file.getvalue()
    assert "billed by AWS and Google Cloud" in text
    assert "at $0.01 per 1,000 (PLIMSOLL_USD_PER_1000_METRICS) and $0.5 per 1,000 (PLIMSOLL_GOOGLE_USD" in text


def test_a_ticket_is_in_the_words_of_its_cloud():
    text = ticket(DISK, Policy(), "https://console.example")
    assert "- Where: project `plimsoll-shop`" in text
    assert "demand in Cloud Monitoring](https://console.example)" in text
    assert "AWS" not in text.partition("### How to undo it")[2]
    assert "AWS allows four modifications" in ticket(AWS, Policy(), "https://console.example")


def test_savings_are_broken_down_by_cloud_only_where_there_are_several():
    one, both = RunTotals.add_up([AWS], by=DIMENSIONS), RunTotals.add_up([AWS, DISK], by=DIMENSIONS)
    assert "cloud" not in {found.dimension for found in breakdowns(one, "account")}
    (clouds,) = [found for found in breakdowns(both, "account") if found.dimension == "cloud"]
    assert {line.label for line in clouds.shown} == {"AWS", "Google Cloud"}


@pytest.mark.parametrize(
    ("clouds", "called"), [((), "account"), (("google",), "project"), (("aws", "google"), "account or project")]
)
def test_a_page_calls_accounts_what_its_clouds_call_them(tmp_path, clouds, called):
    record = DISK if "google" in clouds else AWS
    page = read_page(written(a_folder(tmp_path, [record], clouds=asked(clouds))))
    assert f"By {called}" in page.text
    assert f"{called.capitalize()} all" in " ".join(page.text.split())
    assert page.details[0][0]["account"] == words_of(record.provider).account
    nothing = a_folder(tmp_path / "none", clouds=asked(clouds), failed_places={"a": "b"})
    assert f"no {called} could be read." in read_page(written(nothing)).text


def test_a_reply_in_slack_names_an_account_as_its_cloud_does():
    told = " ".join(reply.message.text for reply in told_of([AWS, DISK]).replies)
    assert f"Account {AWS.account}: " in told
    assert "Project plimsoll-shop: " in told


def test_a_cloud_without_words_of_its_own_is_called_by_its_name():
    assert words_of("abacus").cloud == "abacus"


def test_a_volume_of_an_unknown_cloud_is_reported_in_plain_words_without_a_link(tmp_path):
    record = AWS.model_copy(update={"provider": "abacus"})
    link = console_link(record, Policy(), NOW)
    text = ticket(record, Policy(), link)
    assert f"- Where: account `{AWS.account}`" in text
    assert "]()" not in text
    page = read_page(written(a_folder(tmp_path, [record], clouds=asked(["abacus"])), console_link=lambda _record: link))
    assert (page.details[0][0]["link"], page.details[0][0]["account"]) == ("", "account")
    assert slack_link(link, "Its demand") == []


def test_what_is_true_of_many_places_is_told_once_with_those_places():
    old = "the prices known here are of 2025-03-06."
    places = {f"plimsoll-{name}/us-central1": [old] for name in "abcd"}
    run = a_run_record(notices={**places, "111111111111/us-east-1": ["another tool is active here.", old]})
    assert list(group_notices(run)) == [
        ("plimsoll-a/us-central1, plimsoll-b/us-central1, plimsoll-c/us-central1 and 2 more places", old),
        ("111111111111/us-east-1", "another tool is active here."),
    ]
