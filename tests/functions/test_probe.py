"""The functions of the probe, with the events that the state machine sends them, and what they answer."""

from dataclasses import dataclass, replace
from datetime import timedelta
from unittest.mock import patch

import pytest

from functions import begin_probe, entry_point, look_at_probe
from plimsoll.model.errors import AccessDenied, BadInput, Throttled
from plimsoll.ports import Target
from plimsoll_measure.probe import MOST_HOSTS, MOST_SECONDS
from plimsoll_service.config import ServiceConfig
from plimsoll_service.probing import StoredProbes
from tests.builders import NOW, a_host, a_volume
from tests.in_memory.faults import Fault
from tests.pipelines.test_probe import Lab
from tests.service_loop import a_service

from .calls import Context, ask

ONE, TWO = a_host(id="i-1"), a_host(id="i-2")
NAME = {"probe": "p"}


@dataclass(kw_only=True)
class ProbedPlaces:
    """The lab's one account."""

    lab: Lab
    locked: Exception | None = None

    def accounts(self):
        return sorted({target.account for target in self.lab.ports.inventory.targets()})

    def targets(self, account):
        return [target for target in self.lab.ports.inventory.targets() if target.account == account]

    def ports(self, target, *, now, measured, ledger):
        return self.lab.ports

    def prober(self, target):
        if self.locked is not None:
            raise self.locked
        return self.lab.bench


@pytest.fixture
def volumes():
    return [a_volume("gp3", 100, id=f"vol-{number:017x}", on=ONE if number < 2 else TWO) for number in range(3)]


class Probing:
    """A service over a lab, which the functions are given."""

    def __init__(self, lab, folder):
        self.lab, self.places = lab, ProbedPlaces(lab=lab)
        made = a_service(ServiceConfig.parse({}), self.places, folder, NOW)
        self.service = replace(made, clock=lab.clock)

    def begin(self, *volume_ids, name="p", seconds=600):
        return ask(begin_probe, {"name": name, "input": {"volume_ids": list(volume_ids), "seconds": seconds}})

    def look(self):
        self.lab.clock.time += timedelta(seconds=60)
        return ask(look_at_probe, NAME)

    def ended(self):
        while (state := self.look())["reading"]:
            pass
        return state


@pytest.fixture
def probing_of(tmp_path, volumes):
    """Makes the service over a lab with what a test wants of it."""
    patches = []

    def made(*more, **given):
        probing = Probing(Lab(tmp_path, *volumes, *more, **given), tmp_path)
        patches.append(patch.object(entry_point, "service", lambda _more: probing.service))
        patches[-1].start()
        return probing

    yield made
    for one in reversed(patches):
        one.stop()


def test_volumes_are_read_by_their_hosts_and_what_was_seen_is_kept(probing_of, volumes):
    probing = probing_of()
    begun = probing.begin(*(volume.id for volume in volumes))
    assert begun == {"probe": "p", "reading": 2, "seen": [], "not_seen": []}
    ended = probing.ended()
    names = {f"{volume.account}/{volume.region}/{volume.id}" for volume in volumes}
    assert set(ended["seen"]) == names
    assert ended["not_seen"] == []
    kept = StoredProbes(store=probing.service.store)
    there = Target(account=volumes[0].account, region=volumes[0].region, provider="aws")
    assert kept.latest(there, volumes[0].id).seen.iops.peak.rate == 8000
    assert kept.latest(there, "vol-0ffffffffffffffff") is None
    (key,) = probing.service.store.keys(f"probes/seen/{there}/{volumes[0].id}")
    probing.service.store.put(key, b'{"written": "by another version"}')
    assert kept.latest(there, volumes[0].id) is None


def test_a_step_that_is_called_again_asks_no_host_twice(probing_of, volumes):
    probing = probing_of()
    assert probing.begin(volumes[0].id) == probing.begin(volumes[0].id)
    assert probing.lab.bench.calls["send"] == 1
    ended = probing.ended()
    assert probing.look() == ended


def test_what_cannot_be_probed_is_named_and_costs_itself_alone(probing_of, volumes):
    loose = a_volume("gp3", 10, id="vol-0aaaaaaaaaaaaaaaa", on=())
    probing = probing_of(loose)
    begun = probing.begin(volumes[0].id, loose.id, "vol-0ffffffffffffffff")
    assert begun["reading"] == 1
    assert sorted(sentence.partition(":")[0] for sentence in begun["not_seen"]) == [loose.id, "vol-0ffffffffffffffff"]
    assert len(probing.ended()["seen"]) == 1


def test_a_role_that_may_not_send_the_document_is_a_sentence(probing_of, volumes):
    probing = probing_of(faults=[Fault(step="send", error=AccessDenied("ssm:SendCommand is denied."), times=9)])
    begun = probing.begin(volumes[0].id)
    assert begun["reading"] == 0
    assert "ssm:SendCommand is denied." in begun["not_seen"][0]


def test_an_account_that_cannot_be_entered_for_a_while_loses_nothing_and_is_given_up_when_it_is_late(
    probing_of, volumes
):
    probing = probing_of()
    probing.begin(volumes[0].id)
    probing.places.locked = Throttled("slow.")
    assert probing.look()["reading"] == 1
    probing.places.locked = None
    assert len(probing.ended()["seen"]) == 1
    probing.begin(volumes[2].id, name="p2")
    probing.places.locked = Throttled("slow.")
    probing.lab.clock.time += timedelta(hours=1)
    late = ask(look_at_probe, {"probe": "p2"})
    assert (late["reading"], late["seen"]) == (0, [])
    assert "slow." in late["not_seen"][0]


@pytest.mark.parametrize(
    ("function", "event", "said"),
    [
        (begin_probe, {"name": "p", "input": {"volume_ids": []}}, "volume_ids"),
        (begin_probe, {"name": "p", "input": {"volume_ids": ["disk"]}}, "disk"),
        (begin_probe, {"name": "p", "input": {"volume_ids": ["vol-00000000"] * (MOST_HOSTS + 1)}}, "volume_ids"),
        (begin_probe, {"name": "p", "input": {"volume_ids": ["vol-00000000"], "seconds": MOST_SECONDS + 1}}, "seconds"),
        (look_at_probe, {"probe": "never"}, "there is no probe never"),
    ],
)
def test_bad_input_is_a_sentence(function, event, said, probing_of):
    probing_of()
    with pytest.raises(BadInput, match=said):
        function.handler(event, Context())
