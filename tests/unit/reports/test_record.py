"""The record: real answers of every action satisfy the published JSON Schema, and their money adds up."""

import json
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.domain.kinds import KINDS
from plimsoll.domain.unweighed import answer_by_state
from plimsoll.domain.volume import Owner, OwnerKind
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER, schema
from tests.builders import a_basis, a_demand, a_volume, decision
from tests.profiles import examples
from tests.unit.reports.recommendations import NO_PRICES, a_frontier, a_record, every_action

ACTIONS = tuple(KINDS)


def plain(record):
    return json.loads(record.model_dump_json())


def valid(records):
    jsonschema.validate(records, schema(), cls=jsonschema.Draft202012Validator)


def test_these_tests_have_a_recommendation_of_every_action():
    assert set(every_action()) == set(ACTIONS)


def test_the_schema_is_itself_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_command_prints_the_schema():
    answer = CliRunner().invoke(app, ["schema"])
    assert answer.exit_code == 0
    assert json.loads(answer.stdout) == schema()


@pytest.mark.parametrize("action", ACTIONS)
def test_a_real_record_of_every_action_satisfies_the_schema(action):
    record = plain(a_record(action, "do it"))
    assert (record["action"], record["change"]) == (action, "do it")
    valid([record])


def test_no_records_satisfy_the_schema():
    valid([])


@pytest.mark.parametrize("at", [(), ("current",), ("demand",), ("evidence",), ("offers", 0), ("owner",), ("replay",)])
def test_a_key_that_is_not_in_the_schema_is_refused_at_every_depth(at):
    record = plain(a_record())
    place = record
    for step in at:
        place = place[step]
    place["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        valid([record])


@pytest.mark.parametrize("key", plain(a_record()))
def test_no_key_of_a_record_may_be_left_out(key):
    record = plain(a_record())
    del record[key]
    with pytest.raises(jsonschema.ValidationError, match=key):
        valid([record])


@pytest.mark.parametrize("wrong", [{"action": "delete"}, {"monthly_usd_saved": None}, {"offers": None}])
def test_what_no_record_says_is_refused(wrong):
    with pytest.raises(jsonschema.ValidationError):
        valid([plain(a_record()) | wrong])


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_saved_is_what_is_paid_now_less_what_is_paid_then(action):
    record = a_record(action)
    assert record.monthly_usd_saved == round(record.monthly_usd_now - record.monthly_usd_then, 2)
    assert 0 <= record.monthly_usd_saved_drop_in <= max(0, record.monthly_usd_saved)


@settings(max_examples=examples(30))
@given(st.integers(1, 16_000), st.integers(3_000, 16_000), st.integers(0, 6_000), st.integers(0, 200))
def test_saved_is_now_less_then_to_the_cent_whatever_the_volume(size_gib, iops, need_iops, need_mib_s):
    iops = min(iops, max(3_000, 500 * size_gib))
    record = record_of(
        decision(a_volume("gp3", size_gib, iops=iops), a_demand(need_iops, need_mib_s)), provider=FIRST_PROVIDER
    )
    assert record.monthly_usd_saved == round(record.monthly_usd_now - record.monthly_usd_then, 2)
    valid([plain(record)])


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_not_changed_costs_and_saves_nothing_new(action):
    record = a_record(action)
    if action in {"keep", "wait", "detached", "insufficient-data"}:
        assert record.monthly_usd_then == record.monthly_usd_now
        assert (record.monthly_usd_saved, record.monthly_usd_saved_drop_in) == (0, 0)


def test_only_what_could_be_weighed_has_a_target_and_offers():
    assert a_record("keep").target == a_record("keep").current
    waits = a_record("wait")
    assert (waits.target, waits.replay is None, bool(waits.offers)) == (None, False, True)
    for action in ("detached", "insufficient-data"):
        record = a_record(action)
        assert (record.target, record.replay, record.evidence, record.drop_in) == (None, None, None, None)
        assert record.offers == []


def test_a_reduction_that_waits_says_until_when_and_what_it_may_save():
    waits, then = a_record("wait").wait, a_record("reprovision")
    assert (waits.until, waits.code, waits.expected) == ("2026-11-30", "raised-after-being-throttled", then.target)
    assert waits.monthly_usd_saved == then.monthly_usd_saved > 0


def test_the_epochs_of_a_record_are_in_their_order_with_what_the_volume_was():
    first, second = a_record("wait").epochs
    assert (first.spec.iops, first.ceiling_iops, first.throttled_minutes) == (3_000, 3_000, 412)
    assert first.end == second.start == "2026-11-20T00:00:00+00:00"


def test_an_epoch_of_which_nothing_is_known_is_null():
    unknown = replace(every_action()["wait"].epochs[0], spec=None, ceiling=None)
    record = record_of(replace(every_action()["wait"], epochs=(unknown,)), provider=FIRST_PROVIDER)
    assert (record.epochs[0].spec, record.epochs[0].ceiling_iops) == (None, None)
    valid([plain(record)])


@pytest.mark.parametrize(
    ("usd_month", "shown"),
    [((60.0, 40.0), True), ((60.0, 56.0), False), ((200.0, 191.0), False), ((200.0, 190.0), True), ((60.0,), False)],
)
def test_a_frontier_is_there_where_a_step_saves_five_dollars_and_five_percent(usd_month, shown):
    waits = every_action()["wait"]
    comparison = replace(waits.comparison, frontier=a_frontier(*usd_month))
    record = record_of(replace(waits, comparison=comparison), provider=FIRST_PROVIDER)
    assert [step.monthly_usd for step in record.frontier] == (list(usd_month) if shown else [])


def test_the_relief_that_was_not_chosen_is_an_offer_of_the_record():
    change, relief = every_action()["migrate"], every_action()["upgrade"].target
    record = record_of(replace(change, comparison=replace(change.comparison, relief=relief)), provider=FIRST_PROVIDER)
    assert (record.relief.spec.iops, record.relief.monthly_usd) == (relief.spec.iops, round(relief.usd_month, 2))


def test_where_there_is_no_price_money_is_null_and_nothing_is_saved():
    record = record_of(decision(a_volume("gp2"), a_demand(200, 10), market=NO_PRICES), provider=FIRST_PROVIDER)
    assert (record.monthly_usd_now, record.monthly_usd_then) == (None, None)
    assert (record.monthly_usd_saved, record.monthly_usd_saved_drop_in) == (0, 0)
    valid([plain(record)])


def test_a_detached_volume_without_a_price_has_null_and_not_zero():
    record = record_of(answer_by_state(a_volume("gp2", on=[]), a_basis(market=NO_PRICES)), provider=FIRST_PROVIDER)
    assert plain(record)["monthly_usd_now"] is None
    valid([plain(record)])


def test_a_type_that_provisions_nothing_has_null_figures():
    current = plain(a_record("migrate"))["current"]
    assert current == {"type": "gp2", "size_gib": 500, "iops": None, "throughput_mib_s": None}


def test_name_owner_hosts_and_place_are_the_volume_s():
    owner = Owner(kind=OwnerKind.KUBERNETES, name="claims/data")
    volume = a_volume("gp2", tags={"Name": "데이터"}, owner=owner, zone="us-east-1c")
    record = plain(record_of(decision(volume, a_demand(200, 10)), provider=FIRST_PROVIDER))
    assert (record["name"], record["zone"], record["hosts"]) == ("데이터", "us-east-1c", ["i-1"])
    assert record["owner"] == {"kind": "kubernetes", "name": "claims/data"}


def test_a_volume_without_a_name_has_null_for_one():
    assert plain(a_record())["name"] is None


def test_no_figure_of_a_record_is_infinite_or_no_number():
    for found in every_action().values():
        json.dumps(plain(record_of(found, provider=FIRST_PROVIDER)), allow_nan=False)


def test_a_record_s_volume_cannot_be_changed_afterwards():
    record = a_record()
    with pytest.raises(ValueError, match="frozen"):
        record.volume_id = "vol-2"
    assert replace(every_action()["migrate"].volume, id="vol-2").id != record.volume_id
