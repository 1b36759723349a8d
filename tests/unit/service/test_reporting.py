"""A report has every volume in its tables, those with the most at stake in its page, and is the same however often."""

import json
from dataclasses import replace

import pytest

from plimsoll.model.errors import AccessDenied, BadInput, Unexpected
from plimsoll.ports import Target
from plimsoll.reports.html.page import write_html
from plimsoll.reports.run_files import PAGE, RECOMMENDATIONS, RUN, TABLE, UNANSWERED
from plimsoll_service import reporting
from plimsoll_service.reporting import keep_report
from plimsoll_service.step_messages import RunMessage
from tests.builders import NOW, a_spec
from tests.service_loop import Loop, files, records, run_json
from tests.unit.service.places import ACCOUNT, places_of, service_of, volumes

REPORT = (RECOMMENDATIONS, TABLE, UNANSWERED, PAGE, RUN)


def a_loop(folder, count=6, **config):
    return Loop(service=service_of(places_of(volumes(count)), folder, **config), now=NOW, batch_volumes=2)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in REPORT}


def test_summarizing_and_reporting_again_change_nothing(tmp_path):
    loop = a_loop(tmp_path)
    loop.run()
    once = contents(files(loop.service, "first"))
    loop.end("first")
    assert contents(files(loop.service, "first")) == once


def test_a_report_says_where_it_is_and_what_can_be_saved(tmp_path):
    loop = a_loop(tmp_path)
    reported = loop.run()
    assert reported.report == f"{loop.service.root}/reports/first/report.html"
    assert reported.saved_usd_month == run_json(files(loop.service, "first"))["monthly_usd"]["saved"] > 0


def test_everybody_is_told_of_the_audit_and_of_what_is_new(tmp_path):
    loop = a_loop(tmp_path)
    loop.run()
    kinds = [kind for kind, _ in loop.service.events.sent]
    assert kinds == ["AuditCompleted", *["RecommendationNew"] * 6]
    assert run_json(files(loop.service, "first"))["history"]["new"] == 6


def test_what_was_told_in_an_earlier_run_is_not_new_in_the_next(tmp_path):
    loop = a_loop(tmp_path)
    loop.run()
    loop.service.events.sent.clear()
    loop.run("next")
    assert [kind for kind, _ in loop.service.events.sent] == ["AuditCompleted"]


def test_a_run_that_is_gone_on_with_tells_only_what_it_did_not_tell_before(tmp_path):
    broken = {"vol-us-east-1-003": Unexpected("no such thing")}
    first = Loop(service=service_of(places_of(volumes(6), broken_metrics=broken), tmp_path), now=NOW, batch_volumes=2)
    first.run()
    assert [kind for kind, _ in first.service.events.sent] == ["AuditCompleted", *["RecommendationNew"] * 5]
    rerun = a_loop(tmp_path)
    rerun.service = replace(rerun.service, history=first.service.history)
    rerun.run("second", run_id="first")
    assert [(kind, detail.get("volume_id")) for kind, detail in rerun.service.events.sent] == [
        ("AuditCompleted", None),
        ("RecommendationNew", "vol-us-east-1-003"),
    ]


@pytest.mark.parametrize(
    ("locked", "covered_pct"), [((), 100.0), (("eu-west-1",), 50.0), (("eu-west-1", "us-east-1"), 0.0)]
)
def test_a_report_says_how_much_of_the_scope_was_read(tmp_path, locked, covered_pct):
    denied = {Target(account=ACCOUNT, region=region): AccessDenied("no entry") for region in locked}
    places = places_of([*volumes(1), *volumes(1, region="eu-west-1")], locked=denied)
    loop = Loop(service=service_of(places, tmp_path), now=NOW)
    loop.run()
    assert keep_report(loop.service, RunMessage(run_id="first")).covered_pct == covered_pct


def test_a_page_that_does_not_hold_all_shows_those_with_the_most_at_stake_and_says_so(tmp_path, monkeypatch):
    sizes = range(100, 600, 5)
    given = [replace(volume, spec=a_spec("gp2", size)) for volume, size in zip(volumes(len(sizes)), sizes, strict=True)]
    loop = Loop(service=service_of(places_of(given), tmp_path), now=NOW)
    config = loop.service.config.model_copy(update={"page_volumes": 3})
    loop.service = replace(loop.service, config=config)
    seen = []

    def noted(folder, out, *, shown, matches, **others):
        volumes = list(matches)
        seen.extend(record.volume_id for record, profile in volumes if shown(record) and profile is not None)
        assert sum(profile is not None for _, profile in volumes) == len(seen)
        write_html(folder, out, shown=shown, matches=volumes, **others)

    monkeypatch.setattr(reporting, "write_html", noted)
    loop.run()
    folder = files(loop.service, "first")
    assert sorted(seen) == [volume.id for volume in given[-3:]]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"Here are the 3 of {len(given)} volumes with the most at stake" in page
    assert f"that these {len(given)} volumes cost" in page
    assert len(records(folder)) == len(given)


def test_a_run_that_was_never_begun_cannot_be_reported(tmp_path):
    with pytest.raises(BadInput, match="there is no run nothing"):
        keep_report(a_loop(tmp_path).service, RunMessage(run_id="nothing"))


def test_a_run_without_a_volume_has_a_report_as_well(tmp_path):
    loop = a_loop(tmp_path, count=0)
    assert loop.run().status == "complete"
    assert json.loads((files(loop.service, "first") / "recommendations.json").read_text()) == []
