"""The policy file: every key goes out and comes back; what cannot be used names the key and what it may be."""

from dataclasses import fields
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.ceiling import LatencyClass
from plimsoll.model.errors import PolicyError
from plimsoll.model.policy import (
    BOUNDS,
    RESOLUTIONS_S,
    Exclusion,
    Grade,
    HeadroomFrom,
    Override,
    Policy,
    SizeOn,
    TagMatch,
)
from plimsoll.policy_file import dump_policy, load_policy, parse_flags, parse_policy
from tests.builders import NOW, a_volume

INTEGERS = {
    *("lookback_days", "memory_days", "evidence_max_age_days", "in_place_most_queue", "in_place_most_latency_us"),
    *("iops_step", "throughput_step_mib_s"),
}
KEYS = [field.name for field in fields(Policy)]
PER_RUN = {
    "lookback_days",
    "resolution_s",
    "read_audit_log",
    "exclude",
    "takeover_tags",
    "overrides",
    "bench_hosts",
    "bench_alarm",
    "scratch_hours",
    "show_tags",
}

texts = st.text(min_size=1, max_size=12)
matches = st.builds(TagMatch, tag=texts, value=st.none() | texts)
endings = {"reason": texts.map(lambda text: " ".join(text.split())), "until": st.none() | st.dates()}
exclusions = st.builds(Exclusion, match=matches, **endings) | st.builds(Exclusion, volume=texts, **endings)


def within(key):
    least, most = BOUNDS[key]
    return st.integers(int(least), int(most)) if key in INTEGERS else st.floats(least, most)


VALUES = {
    **{key: within(key) for key in BOUNDS},
    "resolution_s": st.sampled_from(RESOLUTIONS_S),
    "size_on": st.sampled_from(SizeOn),
    "headroom_from": st.sampled_from(HeadroomFrom),
    "read_audit_log": st.booleans(),
    "target_types": st.lists(st.sampled_from(["gp2", "gp3", "io1", "io2", "st1"]), unique=True).map(tuple),
    "latency_floor": st.none() | st.sampled_from(LatencyClass),
    "require_evidence": st.dictionaries(st.sampled_from(["*", "migrate", "upgrade"]), st.sampled_from(Grade)),
    "discounts_pct": st.dictionaries(texts, st.floats(0, 100)),
    "exclude": st.lists(exclusions, max_size=3).map(tuple),
    "bench_hosts": st.lists(matches, max_size=3).map(tuple),
    "bench_alarm": st.none() | texts,
    "show_tags": st.lists(texts, max_size=3).map(tuple),
    "takeover_tags": st.lists(texts, max_size=3).map(tuple),
}
overrides = st.builds(
    Override,
    match=matches,
    policy=st.fixed_dictionaries({}, optional={key: found for key, found in VALUES.items() if key not in PER_RUN}),
)
policies = st.fixed_dictionaries({}, optional={**VALUES, "overrides": st.lists(overrides, max_size=2).map(tuple)}).map(
    lambda keys: Policy(**keys)
)


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "policy.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refusal(keys):
    with pytest.raises(PolicyError) as raised:
        parse_policy(keys)
    return str(raised.value)


def test_these_tests_know_every_key():
    assert set(VALUES) | {"overrides"} == set(KEYS)


@given(policies)
def test_every_policy_goes_out_as_plain_values_and_comes_back_the_same(policy):
    assert parse_policy(dump_policy(policy)) == policy


@given(policies)
def test_every_policy_survives_a_yaml_file(policy):
    assert parse_policy(yaml.safe_load(yaml.safe_dump(dump_policy(policy)))) == policy


def test_no_file_and_no_flags_are_the_defaults():
    assert load_policy(None, {}) == Policy()
    assert dump_policy(Policy()).keys() == set(KEYS)


def test_an_empty_file_is_the_defaults(written):
    assert load_policy(written(""), {}) == Policy()


def test_a_flag_stands_above_the_file(written):
    policy = load_policy(written("headroom_pct: 30\nmin_hours: 5\n"), {"headroom_pct": 40})
    assert (policy.headroom_pct, policy.min_hours) == (40, 5)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("headroom", "headroom_pct"),
        ("lookback_day", "lookback_days"),
        ("min_savings_usd_month", "min_saving_usd_month"),
        ("overide", "overrides"),
        ("Exclude", "exclude"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_that_is_known(wrong, near):
    assert refusal({wrong: 1}) == f"the policy has no key {wrong}: did you mean {near}?"


def test_a_key_like_no_other_is_refused_with_all_that_are_known():
    told = refusal({"zzzz": 1})
    assert all(key in told for key in KEYS)


def test_a_key_that_is_no_word_is_refused():
    assert "has no key 7" in refusal({7: 1})


@pytest.mark.parametrize("key", BOUNDS)
def test_a_value_beyond_its_bounds_names_the_key_the_value_and_the_bounds(key):
    least, most = BOUNDS[key]
    for value in (least - 1, most + 1):
        assert refusal({key: value}) == (
            f"policy key {key} is {value if key in INTEGERS else float(value)}; it must be from {least:g} to {most:g}."
        )


@pytest.mark.parametrize("key", BOUNDS)
def test_the_bounds_themselves_are_allowed(key):
    for value in BOUNDS[key]:
        assert getattr(parse_policy({key: value}), key) == value


@pytest.mark.parametrize("key", sorted(set(BOUNDS) - INTEGERS))
def test_no_number_at_all_is_within_no_bounds(key):
    assert key in refusal({key: float("nan")})


@pytest.mark.parametrize("key", BOUNDS)
def test_a_word_where_a_number_belongs_names_the_key_and_the_word(key):
    assert f"policy key {key} is 'much'" in refusal({key: "much"})


def test_a_resolution_that_no_cloud_keeps_is_refused():
    assert refusal({"resolution_s": 61}) == "policy key resolution_s is 61; it must be one of (60, 300, 3600)."


def test_a_discount_above_everything_is_refused():
    assert "discounts_pct.gp3 is 101.0; it must be from 0 to 100" in refusal({"discounts_pct": {"gp3": 101}})


def test_a_word_that_is_none_of_the_known_lists_them():
    assert refusal({"latency_floor": "slow"}).startswith("policy key latency_floor is slow; it must be one of ")
    assert refusal({"require_evidence": "D"}) == "policy key require_evidence is D; it must be one of C, B, A."
    assert "size_on" in refusal({"size_on": "median"})


def test_one_grade_for_all_stands_for_every_action():
    assert parse_policy({"require_evidence": "b"}).require_evidence == {"*": Grade.B}


def test_types_may_be_a_list_or_words_with_commas():
    assert parse_policy({"target_types": ["gp3", "io2"]}) == parse_policy({"target_types": "gp3, io2"})


# ---- exclusions and overrides


def excluded(policy, **tags):
    return policy.find_exclusion(a_volume(tags={key.replace("_", "-"): value for key, value in tags.items()}), NOW)


def test_exclusions_match_a_tag_with_any_value_or_with_one():
    policy = parse_policy({"exclude": [{"tag": "legal-hold"}, {"tag": "env", "value": "prod"}]})
    assert excluded(policy, legal_hold="anything").match == TagMatch(tag="legal-hold")
    assert excluded(policy, env="prod").match == TagMatch(tag="env", value="prod")
    assert excluded(policy, env="dev") is None


def test_a_yaml_truth_matches_the_tag_s_text(written):
    policy = load_policy(written("exclude:\n- {tag: keep, value: true}\n- {tag: cost-centre, value: 42}\n"), {})
    assert excluded(policy, keep="true")
    assert excluded(policy, cost_centre="42")


def test_an_exclusion_has_a_reason_and_a_last_day(written):
    text = "exclude:\n- {volume: ledger-db, reason: kept for  a license, until: 2027-01-31}\n"
    (entry,) = load_policy(written(text), {}).exclude
    assert entry == Exclusion(volume="ledger-db", reason="kept for a license", until=date(2027, 1, 31))
    (tagged,) = parse_policy({"exclude": [{"tag": "env", "value": "lab", "until": "2027-01-31"}]}).exclude
    assert tagged == Exclusion(match=TagMatch(tag="env", value="lab"), until=date(2027, 1, 31))
    assert parse_policy(dump_policy(Policy(exclude=(entry, tagged)))).exclude == (entry, tagged)


@pytest.mark.parametrize("until", ["soon", "2027-13-01", "31.1.2027", 7])
def test_a_last_day_that_is_none_is_refused(until):
    assert "write a day as 2027-01-31" in refusal({"exclude": [{"volume": "vol-1", "until": until}]})


@pytest.mark.parametrize(
    "bad",
    [
        [{}],
        [{"value": "x"}],
        ["tag"],
        [{"tag": "a", "values": "b"}],
        [{"tag": "a", "volume": "b"}],
        [{"volume": "b", "value": "c"}],
    ],
)
def test_an_exclusion_without_a_tag_is_refused(bad):
    assert "the policy's exclude" in refusal({"exclude": bad})


def test_overrides_change_keys_for_volumes_with_their_tag_in_order():
    policy = parse_policy(
        {
            "headroom_pct": 20,
            "overrides": [
                {"tag": "env", "value": "prod", "policy": {"headroom_pct": 50}},
                {"tag": "critical", "policy": {"headroom_pct": 100, "require_evidence": "A"}},
            ],
        }
    )
    assert policy.apply_overrides({}).headroom_pct == 20
    assert policy.apply_overrides({"env": "dev"}).headroom_pct == 20
    assert policy.apply_overrides({"env": "prod"}).headroom_pct == 50
    assert policy.apply_overrides({"env": "prod", "critical": ""}).headroom_pct == 100
    assert policy.apply_overrides({"critical": ""}).require_evidence == {"*": Grade.A}
    assert policy.apply_overrides({"critical": ""}).min_hours == policy.min_hours


@pytest.mark.parametrize("key", sorted(PER_RUN))
def test_an_override_cannot_change_what_is_read_for_the_whole_run(key):
    told = refusal({"overrides": [{"tag": "a", "policy": {key: dump_policy(Policy())[key]}}]})
    assert f"an override's policy has no key {key}" in told


def test_an_override_beyond_bounds_is_refused_before_any_volume_is_read():
    told = refusal({"overrides": [{"tag": "a", "policy": {"headroom_pct": 401}}]})
    assert told == "policy key headroom_pct is 401.0; it must be from 0 to 400."


@pytest.mark.parametrize(
    "bad", [[{"tag": "a"}], ["a"], [{"policy": {}}], [{"tag": "a", "policy": 3}], [{"tag": "a", "policy": {}, "x": 1}]]
)
def test_an_override_without_tag_or_policy_is_refused(bad):
    assert "overrid" in refusal({"overrides": bad})


@pytest.mark.parametrize("key", ["exclude", "overrides", "target_types"])
def test_a_number_where_a_list_belongs_is_refused(key):
    assert refusal({key: 3}) == f"policy key {key} must be a list."


# ---- files and flags


def test_a_file_that_is_not_yaml_is_named(written):
    path = written("headroom_pct: [")
    with pytest.raises(PolicyError, match="is not YAML") as raised:
        load_policy(path, {})
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["- a list", "just words", "42"])
def test_a_file_that_is_no_mapping_says_what_it_must_be(written, text):
    with pytest.raises(PolicyError, match="must be a mapping of keys to values"):
        load_policy(written(text), {})


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PolicyError, match=r"absent\.yaml cannot be read: No such file or directory\."):
        load_policy(tmp_path / "absent.yaml", {})


def test_a_folder_is_no_policy(tmp_path):
    with pytest.raises(PolicyError, match="cannot be read: it is a folder"):
        load_policy(tmp_path, {})


def test_bytes_that_are_no_text_are_not_yaml(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_bytes(b"\xff\xfeheadroom")
    with pytest.raises(PolicyError, match="is not YAML"):
        load_policy(path, {})


def test_flags_are_read_as_yaml():
    flags = parse_flags(
        ["headroom_pct=30", " size_on = busy-time", "target_types=[gp3]", "latency_floor=", "exclude=[{tag: a=b}]"]
    )
    assert flags == {
        "headroom_pct": 30,
        "size_on": "busy-time",
        "target_types": ["gp3"],
        "latency_floor": None,
        "exclude": [{"tag": "a=b"}],
    }
    assert parse_policy(flags).exclude == (Exclusion(match=TagMatch(tag="a=b")),)


def test_the_last_of_two_flags_of_a_key_counts():
    assert parse_flags(["min_hours=1", "min_hours=2"]) == {"min_hours": 2}


def test_a_flag_without_a_value_says_how_one_looks():
    with pytest.raises(PolicyError, match=r"--set headroom_pct must be KEY=VALUE, such as --set headroom_pct=30"):
        parse_flags(["headroom_pct"])


def test_a_flag_that_is_not_yaml_is_named():
    with pytest.raises(PolicyError, match=r"--set target_types=\[gp3: the value is not YAML"):
        parse_flags(["target_types=[gp3"])


@pytest.mark.parametrize("written", ["Name, team", ["Name", "team"], ("Name", "team")])
def test_the_tags_to_show_are_a_list_of_keys(written):
    assert parse_policy({"show_tags": written}).show_tags == ("Name", "team")


@pytest.mark.parametrize("written", [{"team": "db"}, 7, [{"tag": "team"}]])
def test_what_is_no_list_of_keys_shows_no_tags(written):
    assert "show_tags" in refusal({"show_tags": written})
