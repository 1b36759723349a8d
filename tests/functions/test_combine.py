"""Damaged answers of a batch: the function that combines refuses them by name, and keeps nothing of its shard."""

import json

import pytest

from functions import combine, entry_point
from plimsoll.model.errors import BadInput
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, UNANSWERED
from plimsoll_service.planning import find_pending
from plimsoll_service.step_messages import PendingMessage
from plimsoll_service.stored_results import result_document
from tests.builders import NOW
from tests.faults.on_disk import DAMAGES
from tests.functions.calls import Context
from tests.service_loop import Loop
from tests.unit.service.places import places_of, service_of, volumes
from tests.unit.service.test_combining import BROKEN, KEYS, begun


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """A run whose batches are answered, and nothing is combined."""
    places = places_of(volumes(7), broken_metrics=BROKEN)
    made = Loop(service=service_of(places, tmp_path), now=NOW, batch_volumes=4)
    made.audit_batches(begun(made))
    find_pending(made.service, PendingMessage(run_id="first"))
    monkeypatch.setattr(entry_point, "service", lambda _places: made.service)
    return made


def combine_shards(loop):
    for item in json.loads(loop.service.store.get("work/first/shards.json")):
        combine.handler({"run_id": "first", "shard": item}, Context())


@pytest.mark.parametrize("name", [DEMAND, RECOMMENDATIONS, UNANSWERED])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_of_a_batch_is_named(loop, name, damage):
    store, damaged = loop.service.store, 0
    for batch in list(KEYS.answered_batches(store)):
        key = KEYS.answer_file(batch, result_document(KEYS, batch).require(store).attempt, name)
        whole = store.get(key)
        changed = damage(whole)
        damaged += changed != whole
        store.put(key, changed)
    assert damaged
    with pytest.raises(BadInput, match=name):
        combine_shards(loop)
    assert not KEYS.combined_shards(store)


def test_what_is_whole_is_combined(loop):
    combine_shards(loop)
    assert KEYS.combined_shards(loop.service.store)
