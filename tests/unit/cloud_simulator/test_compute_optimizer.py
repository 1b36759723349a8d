"""The simulated Compute Optimizer: pages, volumes by ARN, and options that save, the cheapest first."""

from datetime import UTC, datetime
from functools import cache
from itertools import pairwise

import pytest

from cloud_simulator.aws.compute_optimizer import recommend_volumes
from cloud_simulator.aws.living import LivingFleet
from cloud_simulator.aws.organization import Mix, fleet_of
from cloud_simulator.aws.scratch_volumes import PACE_S, AccountRegion, Scratch
from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.faults import Faults, Refused


@cache
def fleet():
    return fleet_of(1, datetime.now(UTC), seed=1, mix=Mix.ORGANIZATION)


def here(account="111111111111", region="eu-west-1"):
    living = LivingFleet.begin(fleet())
    scratch = Scratch(living, Devices(), Faults(), PACE_S)
    return AccountRegion(fleet=living, scratch=scratch, account=account, region=region)


def test_its_pages_have_each_volume_with_metrics_once():
    whole = recommend_volumes({}, here())
    arns = [answer["volumeArn"] for answer in whole["volumeRecommendations"]]
    assert "nextToken" not in whole
    first = recommend_volumes({"maxResults": 3}, here())
    rest = recommend_volumes({"nextToken": first["nextToken"]}, here())
    assert [answer["volumeArn"] for page in (first, rest) for answer in page["volumeRecommendations"]] == arns
    known = [volume for volume in fleet().at("111111111111", "eu-west-1") if volume.hosts]
    assert 3 < len(arns) == len({*arns}) <= len(known)


def test_volumes_can_be_asked_for_by_their_arns():
    (arn, *_) = [answer["volumeArn"] for answer in recommend_volumes({}, here())["volumeRecommendations"]]
    (only,) = recommend_volumes({"volumeArns": [arn]}, here())["volumeRecommendations"]
    assert only["volumeArn"] == arn


def test_options_save_the_most_first_and_without_any_the_volume_is_optimized():
    answers = recommend_volumes({}, here(region="us-east-1"))["volumeRecommendations"]
    assert {answer["finding"] for answer in answers} == {"Optimized", "NotOptimized"}
    for answer in answers:
        options = answer["volumeRecommendationOptions"]
        saved = [option["savingsOpportunity"]["estimatedMonthlySavings"]["value"] for option in options]
        assert [option["rank"] for option in options] == list(range(1, len(options) + 1))
        assert len(options) <= 3
        assert all(more >= less for more, less in pairwise(saved))
        if answer["finding"] == "Optimized":
            assert [option["configuration"] for option in options] == [answer["currentConfiguration"]]
        else:
            assert min(saved) > 0


def test_an_account_that_has_not_opted_in_is_refused():
    with pytest.raises(Refused, match="not registered"):
        recommend_volumes({}, here("333333333333", "us-east-1"))
