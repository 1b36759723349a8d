"""The service learns by itself: a run's own volumes teach the headroom of the runs to come."""

import json

from plimsoll.bootstrap.clouds import own_or_public
from plimsoll.learned_table import load_table, parse_table, table_text
from plimsoll.reports.learning import learned_words
from plimsoll.reports.summary import since_before
from plimsoll.service.shared_measurements import LEARNED, LEARNED_HERE, bring
from plimsoll.service.step_messages import RunMessage
from plimsoll.service.store_keys import RunKeys
from plimsoll.service.summarizing import summarize
from plimsoll.settings import Settings
from tests.builders import NOW
from tests.service_loop import Loop
from tests.taught import a_past, teach
from tests.unit.service.places import places_of, service_of, volumes

KEYS = RunKeys(run_id="first")
ENOUGH = [a_past(*[500.0] * 5)] * 60


def summarized(folder, pasts):
    """The store and run.json of a run whose volumes had those pasts."""
    loop = Loop(service=service_of(places_of(volumes(3)), folder), now=NOW, batch_volumes=2)
    loop.run()
    store = loop.service.store
    teach(store, KEYS, pasts)
    summarize(loop.service, RunMessage(run_id="first"))
    return store, json.loads(store.get(KEYS.summary))


def brought(store, folder):
    """The table that an audit of the service goes by."""
    bring(store, folder)
    return own_or_public(Settings(runs_dir=folder))


def test_what_a_run_learned_is_what_the_next_one_promises_by(tmp_path):
    store, run = summarized(tmp_path / "store", ENOUGH)
    kept = parse_table(store.get(LEARNED_HERE).decode())
    assert (kept.source.on, kept.source.volumes, kept.source.public) == (NOW.date().isoformat(), 60, False)
    assert kept.days == 30
    assert {band.memory_days: band.cuts for band in kept.bands} == {30: 4, 60: 3}
    assert brought(store, tmp_path / "here") == kept
    assert run["learning"] == {"volumes": 60, "days": 30, "least_promised_pct": 2.0}
    assert "60 volumes" in learned_words(run)
    assert learned_words(run) in since_before(run)


def test_too_little_history_stays_with_what_ships_and_says_so(tmp_path):
    store, run = summarized(tmp_path / "store", ENOUGH[:5])
    assert store.get(LEARNED_HERE) is None
    assert brought(store, tmp_path / "here") == load_table()
    assert run["learning"] == {"volumes": 5, "days": 30, "least_promised_pct": None}
    assert "public fleets" in learned_words(run)


def test_a_run_without_a_past_says_nothing(tmp_path):
    _store, run = summarized(tmp_path / "store", [])
    assert "learning" not in run
    assert learned_words(run) == ""


def test_a_table_that_people_put_there_comes_first_and_stays(tmp_path):
    store, _ = summarized(tmp_path / "store", ENOUGH)
    own = table_text(load_table())
    store.put(LEARNED, own.encode())
    assert brought(store, tmp_path / "here") == load_table()
    assert store.get(LEARNED) == own.encode()


def test_a_table_of_another_version_does_not_stop_an_audit(tmp_path):
    store, _ = summarized(tmp_path / "store", ENOUGH)
    store.put(LEARNED_HERE, b'{"format": 1}')
    assert brought(store, tmp_path / "here") == load_table()
