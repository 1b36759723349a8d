"""A run over several clouds: one folder and one account of it, each cloud reckoned by its own query_cost."""

from dataclasses import replace

import pytest

from plimsoll.auditing.audit import plan_audit
from plimsoll.auditing.explain import explain_anywhere
from plimsoll.model.errors import AccessDenied, BadInput, PolicyError
from plimsoll.orders import plan_summary, read_order
from plimsoll.outcomes import Answered
from plimsoll.ports import FailedTarget, Target
from plimsoll.reports.run_reader import read_records
from plimsoll.reports.totals import RunTotals
from tests.builders import NOW, US_EAST_1, a_host, a_tariff, a_volume
from tests.unit.reports.plain_runs import carry_out_plain as carry_out
from tests.unit.test_run import POLICY, a_world, an_order, in_silence, stopping_after, volumes

PROJECT = "plimsoll-shop"
DEAR = replace(a_tariff(), usd_query=1.0)


def google_disks(count):
    return [
        a_volume("gp2", 500, id=str(9_000 + number), on=a_host(id=f"{number}"), account=PROJECT, region="us-central1")
        for number in range(count)
    ]


def a_google_world(given, **inventory):
    ports = a_world(given, provider="google", **inventory)
    ports.prices.books = {"us-central1": replace(US_EAST_1, region="us-central1")}
    return replace(ports, catalog=replace(ports.catalog, provider="google"), query_cost=DEAR)


def outcome_of(folder):
    return {record.volume_id: (record.provider, record.action) for record in read_records(folder)}


def test_both_clouds_are_in_one_folder_and_each_volume_names_its_own(tmp_path):
    run, _ = carry_out(an_order(tmp_path), [a_world(volumes(2)), a_google_world(google_disks(3))], in_silence)
    assert {name: cloud for name, (cloud, _) in outcome_of(tmp_path).items()} == {
        "vol-us-east-1-0": "aws",
        "vol-us-east-1-1": "aws",
        "9000": "google",
        "9001": "google",
        "9002": "google",
    }
    assert run["status"] == "complete"
    assert run["volumes"]["seen"] == 5
    assert run["volumes"]["reconciled"]


def test_what_each_cloud_costs_and_can_save_adds_up_to_the_whole(tmp_path):
    run, _ = carry_out(an_order(tmp_path), [a_world(volumes(2)), a_google_world(google_disks(3))], in_silence)
    assert {cloud: told["volumes"] for cloud, told in run["clouds"].items()} == {"aws": 2, "google": 3}
    for figure in ("now", "saved"):
        parts = [told["monthly_usd"][figure] for told in run["clouds"].values()]
        assert sum(parts) == pytest.approx(run["monthly_usd"][figure])


def test_asking_is_reckoned_by_each_clouds_own_tariff(tmp_path):
    aws, google = a_world(volumes(2)), a_google_world(google_disks(3))
    run, _ = carry_out(an_order(tmp_path), [aws, google], in_silence)
    usages = aws.metrics.usage, google.metrics.usage
    assert run["usage"]["metrics"] == sum(usage.metrics for usage in usages)
    assert run["usage"]["estimated_usd"] == pytest.approx(
        usages[0].metrics * a_tariff().usd_query + usages[1].metrics * 1.0, abs=1e-3
    )


def test_a_plan_over_clouds_adds_up_their_plans_each_by_its_own_tariff():
    totals = RunTotals()
    for ports in (a_world(volumes(2)), a_google_world(google_disks(3))):
        for outcome in plan_audit(ports, POLICY, NOW):
            totals.add(outcome)
    query_costs = {"aws": a_tariff(), "google": DEAR}
    whole = plan_summary(totals.plans, query_costs)
    parts = [plan_summary({cloud: plan}, query_costs) for cloud, plan in totals.plans.items()]
    assert len(parts) == 2
    for figure in ("volumes", "calls", "metrics", "datapoints", "estimated_usd", "seconds"):
        assert whole[figure] == pytest.approx(sum(part[figure] for part in parts), abs=0.1)


def test_an_interrupted_run_goes_on_in_the_cloud_that_it_had_not_come_to(tmp_path):
    aws, google = volumes(2), google_disks(2)
    whole, _ = carry_out(an_order(tmp_path / "whole"), [a_world(aws), a_google_world(google)], in_silence)
    with pytest.raises(KeyboardInterrupt):
        carry_out(
            an_order(tmp_path / "half"), [a_world(aws), a_google_world(google)], stopping_after(2, KeyboardInterrupt)
        )
    again = [a_world(aws), a_google_world(google)]
    rest, _ = carry_out(read_order(tmp_path / "half"), again, in_silence)
    assert again[0].metrics.asked == []
    assert outcome_of(tmp_path / "half") == outcome_of(tmp_path / "whole")
    assert (rest["clouds"], rest["monthly_usd"]) == (whole["clouds"], whole["monthly_usd"])


def test_a_cloud_that_cannot_be_entered_costs_itself_alone(tmp_path):
    locked = FailedTarget(name="Google Cloud", error=AccessDenied("no credentials."))
    run, _ = carry_out(an_order(tmp_path), [a_world(volumes(2)), a_google_world([], unreachable=[locked])], in_silence)
    assert run["status"] == "partial"
    assert run["failures"]["targets"] == {"Google Cloud": "no credentials."}
    assert len(outcome_of(tmp_path)) == 2


def test_a_policy_may_name_what_another_cloud_sells_and_then_nothing_else_is_offered_here(tmp_path):
    ports = replace(a_world(volumes(1)), sold_elsewhere=frozenset({"pd-balanced"}))
    carry_out(an_order(tmp_path, replace(POLICY, target_types=("pd-balanced",))), [ports], in_silence)
    (record,) = read_records(tmp_path)
    assert record.action == "keep"
    assert not [offer for offer in record.offers if offer.spec.type != "gp2" and not offer.refused]


def test_a_type_that_no_cloud_sells_is_refused(tmp_path):
    policy = replace(POLICY, target_types=("pd-marble",))
    with pytest.raises(PolicyError, match="pd-marble, which is no volume type"):
        carry_out(an_order(tmp_path, policy), [a_world(volumes(1))], in_silence)


def test_a_volume_is_found_in_whichever_cloud_has_it():
    found = explain_anywhere([a_world(volumes(1)), a_google_world(google_disks(2))], "9001", POLICY, NOW)
    assert found is not None
    assert isinstance(found.outcome, Answered)
    assert found.outcome.target == Target(account=PROJECT, region="us-central1", provider="google")


def test_a_cloud_that_could_not_be_searched_is_told_only_where_the_volume_is_nowhere_else():
    locked = a_world([], unreachable=[FailedTarget(name="prod", error=AccessDenied("no way in."))])
    assert explain_anywhere([locked, a_google_world(google_disks(1))], "9000", POLICY, NOW) is not None
    with pytest.raises(AccessDenied, match="no way in"):
        explain_anywhere([locked, a_google_world(google_disks(1))], "9999", POLICY, NOW)


def test_nothing_is_found_where_every_cloud_was_searched():
    with pytest.raises(BadInput, match="there is no volume 7 in these accounts and regions"):
        explain_anywhere([a_world(volumes(1)), a_google_world(google_disks(1))], "7", POLICY, NOW)


def test_a_volume_is_found_by_its_name_and_by_how_its_id_begins_in_whichever_cloud_has_it():
    named = [replace(volume, tags={"Name": "ledger db"}) for volume in google_disks(1)]
    worlds = [a_world(volumes(1)), a_google_world(named)]
    for word in ("ledger db", "90", "9000", f"{PROJECT}/us-central1/9000"):
        explained = explain_anywhere(worlds, word, POLICY, NOW)
        assert isinstance(explained.outcome, Answered)
        assert explained.outcome.recommendation.volume.id == "9000"


def test_a_name_that_another_place_may_have_too_is_refused_and_an_id_is_not():
    named = [replace(volume, tags={"Name": "ledger db"}) for volume in google_disks(1)]
    locked = a_world([], unreachable=[FailedTarget(name="prod", error=AccessDenied("no way in."))])
    for word in ("ledger db", "900"):
        with pytest.raises(
            BadInput, match=r"9000 in .* could not be searched for that name \(no way in\): give the id"
        ):
            explain_anywhere([a_google_world(named), locked], word, POLICY, NOW)
    assert explain_anywhere([a_google_world(named), locked], "9000", POLICY, NOW)


def test_a_name_of_volumes_in_two_clouds_lists_both():
    twins = [[replace(one, tags={"Name": "ledger"}) for one in fleet] for fleet in (volumes(1), google_disks(1))]
    with pytest.raises(BadInput, match=r"ledger may be 2 volumes: give .*\(ledger\) or .*/9000 \(ledger\)\."):
        explain_anywhere([a_world(twins[0]), a_google_world(twins[1])], "ledger", POLICY, NOW)
