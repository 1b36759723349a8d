"""The figures of the latest report, on request."""

from dataclasses import replace
from datetime import timedelta

from plimsoll.reports.wording import usd
from tests.builders import NOW
from tests.service_loop import Loop

from .asking import a_workplace


def test_what_the_last_audit_found_is_told_in_a_few_lines(tmp_path):
    with a_workplace(tmp_path) as workplace:
        place, responses = workplace.typed()
        workplace.ask("savings", place=place)
        assert "there is no report yet: begin an audit with /plimsoll audit" in responses()[0]
        Loop(service=workplace.service, now=NOW).run("first")
        workplace.ask("savings", place=place)
        said = responses()[1]
        saved = workplace.stored("reports/first/run.json")["monthly_usd"]["saved"]
        for words in (
            f"{usd(saved)} a month can be saved",
            "1 recommendation is new",
            "Audit first of",
            "report.html",
        ):
            assert words in said


def test_the_latest_is_of_the_latest_run_even_if_an_earlier_one_is_reported_again(tmp_path):
    with a_workplace(tmp_path) as workplace:
        first = Loop(service=workplace.service, now=NOW)
        first.run("first")
        replace(first, now=NOW + timedelta(days=7)).run("second")
        first.end("first")
        assert workplace.stored("reports/latest.json")["run_id"] == "second"
