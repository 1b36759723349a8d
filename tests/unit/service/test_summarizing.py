"""A run adds up to the same whichever way it was parted and in whatever order its parts come."""

import json
from dataclasses import replace

import pytest

from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.errors import Unexpected
from plimsoll.ports import Target
from plimsoll_service.step_messages import RunMessage
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.stored_results import Spent
from plimsoll_service.summarizing import summarize, total
from tests.builders import NOW
from tests.service_loop import Loop
from tests.unit.service.places import ACCOUNT, places_of, service_of, volumes

KEYS = RunKeys(run_id="first")
BROKEN = {"vol-us-east-1-001": Unexpected("no such thing"), "vol-eu-west-1-002": Unexpected("gone")}
HERE = Target(account=ACCOUNT, region="us-east-1")


class Backwards(FolderStore):
    """A store that lists its keys from the last to the first."""

    def keys(self, prefix):
        yield from reversed(list(super().keys(prefix)))


def audited(folder, batch_volumes):
    places = places_of([*volumes(7), *volumes(4, region="eu-west-1")], broken_metrics=BROKEN, texts={HERE: ["b", "a"]})
    loop = Loop(service=service_of(places, folder), now=NOW, batch_volumes=batch_volumes)
    loop.run()
    return loop.service


def summary(service):
    summarize(service, RunMessage(run_id="first"))
    run = json.loads(service.store.get(KEYS.summary))
    return {key: value for key, value in run.items() if key not in {"seconds", "usage", "plan"}}


@pytest.mark.parametrize("batch_volumes", [1, 2, 3, 100])
def test_whichever_way_a_run_is_parted_it_adds_up_to_the_same(tmp_path, batch_volumes):
    assert summary(audited(tmp_path / "parted", batch_volumes)) == summary(audited(tmp_path / "whole", 500))


def usages(service):
    return {cloud: spent.usage for cloud, spent in total(service.store, KEYS).spent.items()}


def test_in_whatever_order_the_parts_come_they_add_up_to_the_same(tmp_path):
    service = audited(tmp_path, 2)
    backwards = replace(service, store=Backwards(service.store.folder))
    assert summary(backwards) == summary(service)
    assert usages(backwards) == usages(service)


def test_what_was_spent_is_added_stage_by_stage():
    one = Spent(calls=1, metrics=2, datapoints=3, seconds={"decide": 1.5})
    other = Spent(calls=10, seconds={"decide": 0.5, "elapsed": 4.0})
    both = Spent(calls=11, metrics=2, datapoints=3, seconds={"decide": 2.0, "elapsed": 4.0})
    assert one + other == other + one == both
