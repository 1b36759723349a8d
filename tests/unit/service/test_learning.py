"""The service learns by itself: a run's own volumes teach the headroom of the runs to come."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.bootstrap.clouds import own_or_public
from plimsoll.clouds.scope import Scope
from plimsoll.learned_table import load_table, parse_table, table_text
from plimsoll.reports.promises import scope_words
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.story.run import changes_since
from plimsoll.reports.wording import learned_words
from plimsoll.settings import Settings
from plimsoll_service.shared_measurements import LEARNED_HERE_KEY, LEARNED_KEY, bring_measurements
from plimsoll_service.step_messages import RunMessage
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.summarizing import summarize
from tests.builders import NOW
from tests.service_loop import Loop
from tests.taught import a_past, teach
from tests.unit.service.places import places_of, service_of, volumes

KEYS = RunKeys(run_id="first")
ENOUGH = [a_past(*[500.0] * 5)] * 60


def summarized(folder, pasts, *, before=None):
    """The store and run.json of a run whose volumes had those pasts, and that found a table of `before`."""
    loop = Loop(service=service_of(places_of(volumes(3)), folder), now=NOW, batch_volumes=2)
    loop.run()
    store = loop.service.store
    if before is not None:
        store.put(LEARNED_HERE_KEY, table_text(before).encode())
    teach(store, KEYS, pasts)
    summarize(loop.service, RunMessage(run_id="first"))
    return store, json.loads(store.get(KEYS.summary))


def words_of(run):
    return learned_words(RunRecord.model_validate(run))


def brought(store, folder):
    """The table that an audit of the service goes by."""
    bring_measurements(store, folder)
    return own_or_public(Settings(runs_dir=folder))


def test_what_a_run_learned_is_what_the_next_one_promises_by(tmp_path):
    store, run = summarized(tmp_path / "store", ENOUGH)
    kept = parse_table(store.get(LEARNED_HERE_KEY).decode())
    assert (kept.source.on, kept.source.volumes, kept.source.public) == (NOW.date().isoformat(), 60, False)
    assert kept.days == 30
    assert {band.memory_days: band.cuts for band in kept.bands} == {30: 4, 60: 3}
    assert brought(store, tmp_path / "here") == kept
    rests_on = {"volumes": 60, "on": kept.source.on, "of": kept.source.fleets[0]}
    assert run["learning"] == {"volumes": 60, "days": 30, "least_promised_pct": 2.0, "rests_on": rests_on}
    assert "60 volumes" in words_of(run)
    assert words_of(run) in changes_since(RunRecord.model_validate(run))


def test_too_little_history_stays_with_what_ships_and_says_so(tmp_path):
    store, run = summarized(tmp_path / "store", ENOUGH[:5])
    assert store.get(LEARNED_HERE_KEY) is None
    assert brought(store, tmp_path / "here") == load_table()
    assert run["learning"] == {"volumes": 5, "days": 30, "least_promised_pct": None, "rests_on": None}
    assert "public workloads" in words_of(run)


def test_a_run_without_a_past_says_nothing(tmp_path):
    _store, run = summarized(tmp_path / "store", [])
    assert "learning" not in run
    assert words_of(run) == ""


def test_a_table_that_people_put_there_comes_first_and_stays(tmp_path):
    store, _ = summarized(tmp_path / "store", ENOUGH)
    own = table_text(load_table())
    store.put(LEARNED_KEY, own.encode())
    assert brought(store, tmp_path / "here") == load_table()
    assert store.get(LEARNED_KEY) == own.encode()


def test_a_table_of_another_version_does_not_stop_an_audit(tmp_path):
    store, _ = summarized(tmp_path / "store", ENOUGH)
    store.put(LEARNED_HERE_KEY, b'{"format": 1}')
    assert brought(store, tmp_path / "here") == load_table()


def an_earlier_one(volumes, *, days_ago=7, **changed):
    on = (NOW - timedelta(days=days_ago)).date().isoformat()
    found = load_table()
    return replace(found, source=replace(found.source, on=on, volumes=volumes, public=False), **changed)


@pytest.mark.parametrize(
    ("before", "stays"),
    [
        (an_earlier_one(1000), True),
        (an_earlier_one(76), True),
        (an_earlier_one(75), False),  # four fifths are as good, and newer
        (an_earlier_one(1000, days_ago=91), False),
        (an_earlier_one(1000, days_ago=-1), False),
        (an_earlier_one(1000, days=7.0), False),
    ],
)
def test_an_audit_of_less_does_not_take_the_place_of_what_more_has_taught(tmp_path, before, stays):
    store, run = summarized(tmp_path / "store", ENOUGH, before=before)
    kept = parse_table(store.get(LEARNED_HERE_KEY).decode())
    assert (kept == before) is stays
    assert run["learning"]["volumes"] == 60
    assert run["learning"]["rests_on"]["volumes"] == (before.source.volumes if stays else 60)
    assert (f"{before.source.volumes:,} volumes of {before.source.on}" in words_of(run)) is stays


def test_too_little_history_leaves_an_earlier_table_and_says_that_promises_rest_on_it(tmp_path):
    before = an_earlier_one(1000)
    store, run = summarized(tmp_path / "store", ENOUGH[:5], before=before)
    assert parse_table(store.get(LEARNED_HERE_KEY).decode()) == before
    assert "1,000 volumes" in words_of(run)


def test_a_table_says_of_which_accounts_and_regions_it_is():
    scope = {"accounts": ["1", "2", "3", "4", "5"], "regions": ["eu-west-1"], "projects": []}
    assert scope_words(scope) == "audits of accounts 1, 2, 3 and 2 more; regions eu-west-1"
    everything = Scope(organization=True, regions=("eu-west-1",)).as_dict()
    assert scope_words(everything) == "audits of the organization; regions eu-west-1"
    assert scope_words({}) == "audits of all that the default credentials reach"
