import math
from datetime import UTC, date, datetime, timedelta

import pytest

from plimsoll.model.errors import PolicyError
from plimsoll.model.policy import BOUNDS, OPT_OUT, Exclusion, Override, Policy, TagMatch
from tests.builders import NOW, a_policy, a_volume


@pytest.mark.parametrize("key", sorted(BOUNDS))
def test_every_bounded_key_refuses_what_lies_outside_and_names_itself(key):
    least, most = BOUNDS[key]
    assert getattr(a_policy(**{key: least}), key) == least
    assert getattr(a_policy(**{key: most}), key) == most
    for outside in (least - 1, most + 1, math.nan):
        with pytest.raises(PolicyError, match=rf"policy key {key} is .* must be from"):
            a_policy(**{key: outside})


def test_every_default_lies_within_its_bounds():
    for key, (least, most) in BOUNDS.items():
        assert least <= getattr(Policy(), key) <= most


@pytest.mark.parametrize("resolution_s", [0, 1, 61, 120, 86_400])
def test_only_resolutions_that_clouds_keep_are_taken(resolution_s):
    with pytest.raises(PolicyError, match="resolution_s"):
        a_policy(resolution_s=resolution_s)


@pytest.mark.parametrize("discount_pct", [-1, 101])
def test_discounts_are_percentages(discount_pct):
    with pytest.raises(PolicyError, match=r"discounts_pct\.gp3"):
        a_policy(discounts_pct={"gp3": discount_pct})


def test_the_defaults_are_those_of_the_documentation():
    policy = Policy()
    assert (policy.lookback_days, policy.resolution_s, policy.headroom_pct) == (14, 60, 20)
    assert (policy.min_hours, policy.saturation_pct, policy.empty_balance_pct) == (30, 95, 1)
    assert (policy.upgrade_throttled_share_pct, policy.throttle_lift_pct, policy.min_saving_usd_month) == (0.5, 50, 1)
    assert (policy.throttle_budget_min, policy.max_wait_s, policy.settle_days, policy.drop_in_share_pct) == (
        0,
        60,
        7,
        90,
    )
    assert (policy.iops_step, policy.throughput_step_mib_s) == (100, 5)
    assert policy.target_types == ()  # what each cloud's data mark as targets


def test_a_tag_matches_by_key_and_where_it_names_one_by_value():
    assert TagMatch(tag="env").is_match({"env": "prod"})
    assert TagMatch(tag="env", value="prod").is_match({"env": "prod"})
    assert not TagMatch(tag="env", value="prod").is_match({"env": "test"})
    assert not TagMatch(tag="env").is_match({"Env": "prod"})
    assert (str(TagMatch(tag="env")), str(TagMatch(tag="env", value="prod"))) == ("env", "env=prod")


def excluded(policy, now=NOW, **volume):
    return policy.find_exclusion(a_volume(**volume), now)


def test_a_volume_can_opt_out_by_tag():
    assert excluded(Policy(), tags={"plimsoll:exclude": "true"}) == OPT_OUT
    assert excluded(Policy(), tags={"plimsoll:exclude": "false"}) is None


def test_the_first_exclusion_that_matches_is_named():
    prod, team = (Exclusion(match=match) for match in (TagMatch(tag="env", value="prod"), TagMatch(tag="team")))
    policy = a_policy(exclude=(prod, team))
    assert excluded(policy, tags={"team": "db", "env": "prod"}) == prod
    assert excluded(policy, tags={"team": "db", "env": "test"}) == team
    assert excluded(policy, tags={}) is None


@pytest.mark.parametrize(
    ("word", "holds"),
    [
        ("vol-0a1", True),
        ("ledger db", True),
        ("111122223333/us-east-1/vol-0a1", True),
        ("111122223333/us-east-1/ledger db", True),
        ("444455556666/us-east-1/vol-0a1", False),
        ("vol-0a", False),
        ("ledger", False),
        ("", False),
    ],
)
def test_a_volume_is_excluded_by_its_id_or_its_whole_name(word, holds):
    policy = a_policy(exclude=(Exclusion(volume=word),))
    assert (excluded(policy, id="vol-0a1", tags={"Name": "ledger db"}) is not None) is holds


def test_an_exclusion_lasts_through_its_last_day():
    policy = a_policy(exclude=(Exclusion(volume="vol-1", reason="a license", until=date(2026, 3, 1)),))
    last = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    assert str(excluded(policy, last, id="vol-1")) == "volume vol-1 (until 2026-03-01): a license"
    assert excluded(policy, last + timedelta(minutes=1), id="vol-1") is None


def test_overrides_by_tag_apply_in_their_order():
    policy = a_policy(
        headroom_pct=10,
        overrides=(
            Override(match=TagMatch(tag="env", value="prod"), policy={"headroom_pct": 50, "min_hours": 100}),
            Override(match=TagMatch(tag="critical"), policy={"headroom_pct": 100}),
        ),
    )
    assert policy.apply_overrides({}) == policy
    assert policy.apply_overrides({"env": "prod"}).headroom_pct == 50
    both = policy.apply_overrides({"env": "prod", "critical": ""})
    assert (both.headroom_pct, both.min_hours) == (100, 100)


def test_an_override_keeps_to_the_same_bounds():
    policy = a_policy(overrides=(Override(match=TagMatch(tag="a"), policy={"headroom_pct": 1000}),))
    with pytest.raises(PolicyError, match="headroom_pct"):
        policy.apply_overrides({"a": ""})


def test_the_tags_that_are_shown_are_those_of_the_list_and_by_default_the_usual_ones():
    tags = {"Name": "orders", "team": "db", "note": "private"}
    assert Policy().pick_shown_tags(tags) == {"Name": "orders", "team": "db"}
    assert Policy().pick_shown_tags({"Owner": "ann", "Teams": "db"}) == {"Owner": "ann"}
    assert a_policy(show_tags=("team", "missing")).pick_shown_tags(tags) == {"team": "db"}
    assert a_policy(show_tags=()).pick_shown_tags(tags) == {}
