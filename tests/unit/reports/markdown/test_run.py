"""A run and a volume as Markdown: what counts is on it, it fits GitHub, and no name breaks it."""

import pytest
from hypothesis import given, settings

from plimsoll.model.policy import Policy
from plimsoll.reports.markdown.markup import MOST_ON_GITHUB
from plimsoll.reports.markdown.run import run_markdown, ticket, tickets
from plimsoll.reports.record import BlockerRecord, OwnerRecord
from plimsoll.reports.run_folder import RunFolder
from plimsoll.reports.run_reader import read_run
from plimsoll.reports.wording import usd
from tests.profiles import examples
from tests.unit.reports.markdown.rendered import shown
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.runs import a_run, an_unanswered
from tests.unit.reports.strategies import HOSTILE, records

LINK = "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#metricsV2?graph=%7B%28%29%7D"
TAGS = {"p", "h1", "h2", "h3", "ul", "li", "strong", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}


def test_a_run_says_what_can_be_saved_what_to_do_and_what_is_missing(tmp_path):
    records = [a_record(action, volume_id=f"vol-{action}") for action in every_action()]
    run = a_run(
        tmp_path / "run",
        records,
        unanswered=[an_unanswered("vol-f"), an_unanswered("vol-s", "skipped", "excluded by the policy")],
        failed_places={"profile prod": "BadCredentials"},
        status="partial",
    )
    text = run_markdown(run, None, "")
    page = shown(text)
    saved = sum(one.monthly_usd_saved for one in records if one.action in {"migrate", "reprovision"})
    assert f"{usd(saved)} a month can be saved" in page.text
    for words in ("Speed up volumes throttled", "vol-migrate", "vol-f", "BadCredentials", "excluded by the policy"):
        assert words in page.text
    assert "unreadable: 1 place and 1 volume; see the end." in page.text
    assert text == run_markdown(run, None, ""), "the same run, the same bytes"


def test_a_part_says_of_what_it_is_and_names_no_others_failures(tmp_path):
    run = a_run(
        tmp_path, [a_record(volume_id="vol-1"), a_record(volume_id="vol-2")], unanswered=[an_unanswered("vol-f")]
    )
    text = run_markdown(run, lambda record: record.volume_id == "vol-2", "owner.name = 'payments'")
    assert "Of owner.name = 'payments' alone." in shown(text).text
    assert "vol-2" in text
    assert "vol-1" not in text
    assert "vol-f" not in text


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_a_run_that_has_not_ended_says_how_to_go_on(tmp_path, status):
    run = a_run(tmp_path / "run", [a_record()], status=status)
    assert f"plimsoll audit --resume {run}" in shown(run_markdown(run, None, "")).text


def test_runs_without_an_answer_are_told_sensibly(tmp_path):
    assert "No volumes were found" in run_markdown(a_run(tmp_path / "empty"), None, "")
    failed = a_run(tmp_path / "failed", unanswered=[an_unanswered(f"vol-{number}") for number in range(60)])
    text = run_markdown(failed, None, "")
    assert "No volume could be judged" in text
    assert "60 volumes" in text


def test_a_run_and_tickets_of_whatever_size_fit_github_and_count_the_rest(tmp_path):
    nasty = "".join(HOSTILE) * 4
    many = [
        a_record(volume_id=f"vol-{number:017}", name=nasty, change=nasty, reasons=[nasty] * 5) for number in range(300)
    ]
    failed = [an_unanswered(f"vol-f{number}", reason=f"{number} {nasty}") for number in range(100)]
    run = a_run(tmp_path / "run", many, unanswered=failed)
    page = run_markdown(run, None, "")
    together = tickets(run, lambda _: True, lambda _: LINK)
    for text in (page, together):
        assert len(text.encode("utf-16-le")) // 2 <= MOST_ON_GITHUB
    assert "250 more volumes" in page or "did not fit" in page
    told = together.count("## Change")
    assert 0 < told < 300
    assert f"Not shown: {300 - told} more volumes" in together


@settings(max_examples=examples(60))
@given(records())
def test_no_name_makes_a_tag_or_a_link_of_a_ticket(record):
    page = shown(ticket(record, Policy(), LINK))
    assert set(page.tags) <= TAGS | {"a"}
    assert page.tags.count("a") == (1 if record.demand is not None else 0)
    assert set(page.attributes) <= {"href", "class", "style"}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_makes_a_tag_or_a_link_of_a_runs_page(tmp_path, name):
    owner = OwnerRecord(kind="operator", name=name)
    record = a_record(name=name, zone=name, owner=owner, blockers=[BlockerRecord(code="state", text=name)])
    run = a_run(tmp_path, [record], unanswered=[an_unanswered("vol-f", reason=name)])
    page = shown(run_markdown(run, lambda _: True, name) + run_markdown(run, None, ""))
    assert set(page.tags) <= TAGS
    assert set(page.attributes) <= {"style"}


def test_a_ticket_says_what_why_on_what_evidence_at_what_risk_how_and_back():
    record = a_record(change="aws ec2 modify-volume --volume-id vol-1\n```\nnot the end")
    text = ticket(record, Policy(), LINK)
    page = shown(text)
    for heading in ("### Why", "### Evidence", "### Risk", "### How", "### How to undo it"):
        assert heading in text
    assert "gp2 500 GiB → gp3 500 GiB 3,000 IOPS 125 MiB/s" in page.text
    assert record.change in page.text
    assert "Set it back to gp2 500 GiB" in page.text
    assert f"({LINK})" in text
    assert record.reasons[0] in page.text


def test_every_ticket_of_a_run_names_the_run_its_day_and_version_and_what_is_given_up(tmp_path):
    records = [a_record(volume_id="vol-1", losses=[]), a_record("upgrade", volume_id="vol-2")]
    folder = a_run(tmp_path / "run", records)
    run = read_run(folder)
    page = shown(tickets(folder, lambda _: True, lambda _: LINK))
    version = run.versions.get("plimsoll", "of an unknown version")
    origin = f"Run: {run.id}, {run.as_of:%Y-%m-%d %H:%M} UTC, Plimsoll {version}"
    assert page.text.count(origin) == len(records)
    assert page.text.count("Gives up ") >= len(records)


@pytest.mark.parametrize("action", ["keep", "detached", "insufficient-data"])
def test_what_is_not_to_be_changed_has_no_way_back(action):
    text = ticket(a_record(action), Policy(), LINK)
    assert "undo" not in text
    assert "### Risk" in text


def test_the_page_of_a_run_does_not_depend_on_what_else_is_in_its_folder(tmp_path):
    run = a_run(tmp_path / "run", [a_record()])
    before = run_markdown(run, None, "")
    with RunFolder(run):
        pass
    assert run_markdown(run, None, "") == before
