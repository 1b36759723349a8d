"""Compute Optimizer's recommendations are read page by page; a wrong entry costs itself, a refusal one sentence."""

import boto3
import pytest
from botocore.stub import Stubber

from plimsoll.clouds.aws.compute_optimizer import read_advice
from plimsoll.clouds.aws.lists import Asker
from plimsoll.model.errors import AccessDenied, CloudError
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Advice, Target, UnreadVolume

HERE = Target(account="111122223333", region="eu-west-1")
OPERATION = "get_ebs_volume_recommendations"


def configuration(type_="gp3", size=500, iops=3000, throughput=125, **more):
    return {
        "volumeType": type_,
        "volumeSize": size,
        "volumeBaselineIOPS": iops,
        "volumeBaselineThroughput": throughput,
        "rootVolume": False,
        **more,
    }


def option(rank=1, saved=12.5, currency="USD", **to):
    money = {"currency": currency, "value": saved}
    return {
        "configuration": configuration(**to),
        "performanceRisk": 1.0,
        "rank": rank,
        "savingsOpportunity": {"savingsOpportunityPercentage": 20.0, "estimatedMonthlySavings": money},
    }


def entry(volume="vol-1", *, region="eu-west-1", account="111122223333", options=None, now=None, **fields):
    return {
        "volumeArn": f"arn:aws:ec2:{region}:{account}:volume/{volume}",
        "accountId": account,
        "currentConfiguration": now or configuration("gp2", iops=1500, throughput=250),
        "finding": "NotOptimized",
        "lookBackPeriodInDays": 14.0,
        "volumeRecommendationOptions": [option()] if options is None else options,
        **fields,
    }


def read(*answers):
    client = boto3.Session("testing", "testing", region_name="eu-west-1").client("compute-optimizer")
    with Stubber(client) as stub:
        for answer in answers:
            if isinstance(answer, str):
                stub.add_client_error(OPERATION, answer, "no")
            else:
                stub.add_response(OPERATION, answer)
        found = list(read_advice(client, HERE, Asker(place=str(HERE), sleep=lambda _seconds: None)))
        stub.assert_no_pending_responses()
    return found


def test_pages_are_read_to_their_end_and_the_first_rank_counts():
    first = {"volumeRecommendations": [entry(options=[option(2, saved=9), option(1, size=500)])], "nextToken": "more"}
    one, other = read(first, {"volumeRecommendations": [entry("vol-2")]})
    assert one == Advice(
        account=HERE.account,
        region=HERE.region,
        volume_id="vol-1",
        current=VolumeSpec(type="gp2", size_gib=500),
        target=VolumeSpec(type="gp3", size_gib=500, iops=3000, throughput_mib_s=125),
        usd_month_saved=12.5,
        performance_risk=1.0,
        days=14.0,
    )
    assert other.volume_id == "vol-2"


def test_what_a_type_does_not_sell_is_no_figure_of_its():
    now = configuration("io2", iops=6000, throughput=1000)
    (advice,) = read({"volumeRecommendations": [entry(now=now)]})
    assert advice.current == VolumeSpec(type="io2", size_gib=500, iops=6000)


def test_without_options_nothing_is_to_change_and_savings_in_another_currency_are_not_known():
    optimized = entry(options=[], finding="Optimized")
    in_yuan = entry("vol-2", options=[option(currency="CNY")])
    kept, other = read({"volumeRecommendations": [optimized, in_yuan]})
    assert (kept.target, kept.usd_month_saved) == (kept.current, 0.0)
    assert other.usd_month_saved is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"region": "us-east-1"},
        {"account": "444455556666"},
        {"now": configuration("gp9")},
        {"now": configuration("gp3", iops=900_000)},
        {"options": [option(size=10**9)]},
        {"options": [{**option(), "performanceRisk": 9.0}]},
        {"lookBackPeriodInDays": 0.0},
        {"finding": "Perhaps"},
    ],
)
def test_an_entry_that_is_not_of_the_place_or_cannot_be_costs_only_itself(wrong):
    bad, good = read({"volumeRecommendations": [entry(**wrong), entry("vol-2")]})
    assert isinstance(bad, UnreadVolume)
    assert "GetEBSVolumeRecommendations cannot be used" in str(bad.error)
    assert good.volume_id == "vol-2"


def test_a_volume_that_it_has_no_answer_for_is_named():
    fault = {"identifier": f"arn:aws:ec2:eu-west-1:{HERE.account}:volume/vol-9", "code": "Internal", "message": "no"}
    (unread,) = read({"volumeRecommendations": [], "errors": [fault]})
    assert (unread.id, "Internal" in str(unread.error)) == ("vol-9", True)


def test_an_account_that_has_not_opted_in_is_told_how():
    with pytest.raises(CloudError, match="Opt in to Compute Optimizer") as raised:
        read("OptInRequiredException")
    assert not isinstance(raised.value, AccessDenied)


def test_a_denial_names_the_permission_and_where_it_is_printed():
    with pytest.raises(AccessDenied, match=r"compute-optimizer:GetEBSVolumeRecommendations.*permissions --for compare"):
        read("AccessDeniedException")


def test_a_page_that_cannot_be_used_is_asked_again_and_costs_what_follows():
    answers = read(
        {"volumeRecommendations": [entry()], "nextToken": "a"},
        *[{"volumeRecommendations": [], "errors": [{"identifier": "", "code": ""}], "nextToken": "b"}] * 3,
        {"volumeRecommendations": [entry("vol-3")]},
    )
    assert [getattr(answer, "volume_id", None) for answer in answers] == ["vol-1", None, "vol-3"]
    assert answers[1].what == "page 2 of the recommendations"
