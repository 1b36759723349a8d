"""EC2 volumes as changes see and modify them, on the simulated cloud: states, refusals by code, lost answers."""

from contextlib import contextmanager
from datetime import timedelta

import boto3
import pytest

from cloud_simulator.aws.fleet import HOME_KEY
from cloud_simulator.aws.living import ModificationRules
from cloud_simulator.aws.volume_maker import gp2, io
from cloud_simulator.faults import Effect, Fault
from plimsoll.clouds.aws.permissions import CHANGE, CHANGE_TAG
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import BadCredentials, Unanswered, VolumeGone
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import Target
from plimsoll_change.aws.changer import AwsChanger
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.ports import ModifyRefused
from tests.unit.cloud_simulator.served import HOME
from tests.unit.cloud_simulator.test_modifications import account, id_of

HERE = Target(account=HOME, region="us-east-1")
NOW_SPEC = VolumeSpec(type="gp2", size_gib=500)
REQUEST = "00000000-0000-4000-8000-000000000001"
THEN = VolumeSpec(type="gp3", size_gib=500, iops=3500, throughput_mib_s=200)


@contextmanager
def changing(monkeypatch, *volumes, **options):
    """An account, and what changes its volumes."""
    with account(*volumes, **options) as there:
        keys = {"AWS_ACCESS_KEY_ID": HOME_KEY, "AWS_SECRET_ACCESS_KEY": "simulated", "AWS_REGION": HERE.region}
        for name, value in {**keys, "AWS_ENDPOINT_URL": there.endpoint}.items():
            monkeypatch.setenv(name, value)
        sessions = Sessions(attempts=3, connections=4, by_account={HOME: boto3.Session()})
        yield there, AwsChanger(sessions=sessions, now=there.front.living.clock.now, list_deadline_s=60)


def count(there):
    return len(there.front.living.modifications())


def test_a_modification_is_seen_with_what_it_makes_of_the_volume(monkeypatch):
    with changing(monkeypatch) as (there, changer):
        name, clock = id_of(there), there.front.living.clock
        before = changer.look(HERE, [name])[name]
        assert isinstance(before, Volume)
        assert (before.spec, before.modification) == (NOW_SPEC, None)
        started = changer.modify(HERE, name, NOW_SPEC, THEN, REQUEST)
        during = changer.look(HERE, [name])[name].modification
        assert (during.state, during.started, during.target, during.original) == ("modifying", started, THEN, NOW_SPEC)
        clock.pause(300)
        after = changer.look(HERE, [name])[name]
        assert (after.spec, after.modification.is_running) == (THEN, True)
        clock.pause(3 * 86_400)
        assert changer.look(HERE, [name])[name].modification.state == "completed"
        assert changer.find_starts(HERE, name, started - timedelta(hours=1)) == [started]


def test_a_volume_that_grows_names_its_size(monkeypatch):
    with changing(monkeypatch, ("data", io("io1", 100, 1000))) as (there, changer):
        name = id_of(there)
        before = changer.look(HERE, [name])[name].spec
        then = VolumeSpec(type="gp3", size_gib=120, iops=3000, throughput_mib_s=125)
        changer.modify(HERE, name, before, then, REQUEST)
        assert changer.look(HERE, [name])[name].modification.target.size_gib == 120


def test_a_lost_answer_is_one_modification_and_no_second_call(monkeypatch):
    faults = [Fault(operation="ModifyVolume", effect=Effect.LOST, times=1)]
    with changing(monkeypatch, faults=faults) as (there, changer):
        name = id_of(there)
        with pytest.raises(Unanswered):
            changer.modify(HERE, name, NOW_SPEC, THEN, REQUEST)
        assert changer.look(HERE, [name])[name].modification.target == THEN


@pytest.mark.parametrize("code", [*CHANGE_CLOUDS[AWS].refusals, "SomethingNew"])
def test_a_refusal_keeps_its_code_and_changes_nothing(monkeypatch, code):
    faults = [Fault(operation="ModifyVolume", code=code, times=1)]
    with changing(monkeypatch, faults=faults) as (there, changer):
        name = id_of(there)
        with pytest.raises(ModifyRefused) as refused:
            changer.modify(HERE, name, NOW_SPEC, THEN, REQUEST)
        assert refused.value.code == code
        assert changer.look(HERE, [name])[name].modification is None


@pytest.mark.parametrize("code", ["InternalError", "Unavailable"])
def test_an_error_of_the_cloud_itself_leaves_open_what_was_done(monkeypatch, code):
    faults = [Fault(operation="ModifyVolume", code=code, status=503, times=1)]
    with changing(monkeypatch, faults=faults) as (there, changer), pytest.raises(Unanswered):
        changer.modify(HERE, id_of(there), NOW_SPEC, THEN, REQUEST)


def test_the_time_that_a_refused_rate_names_is_read(monkeypatch):
    with changing(monkeypatch, ("data", gp2(1))) as (there, changer):
        name, clock, refused = id_of(there), there.front.living.clock, None
        for iops in range(3001, 3010):
            now = changer.look(HERE, [name])[name].spec
            then = VolumeSpec(type="gp3", size_gib=10, iops=iops, throughput_mib_s=125)
            try:
                changer.modify(HERE, name, now, then, REQUEST)
            except ModifyRefused as error:
                refused = error
                break
            while changer.look(HERE, [name])[name].modification.is_running:
                clock.pause(600)
        assert refused is not None
        assert refused.code == "VolumeModificationRateExceeded"
        assert clock.now() < refused.until <= clock.now() + timedelta(hours=24)


def test_a_volume_that_is_not_there_is_gone(monkeypatch):
    with changing(monkeypatch) as (there, changer):
        seen = changer.look(HERE, [id_of(there), "vol-0123456789abcdef0"])
        assert isinstance(seen["vol-0123456789abcdef0"], VolumeGone)
        assert isinstance(seen[id_of(there)], Volume)
        with pytest.raises(VolumeGone):
            changer.modify(HERE, "vol-0123456789abcdef0", NOW_SPEC, THEN, REQUEST)


def test_without_cloudtrail_other_peoples_modifications_are_unknown(monkeypatch):
    faults = [Fault(operation="LookupEvents", code="AccessDeniedException")]
    with changing(monkeypatch, faults=faults) as (there, changer):
        now = there.front.living.clock.now()
        assert changer.find_starts(HERE, id_of(there), now - timedelta(days=1)) is None


def test_an_account_without_credentials_is_named(monkeypatch):
    with changing(monkeypatch) as (_, changer), pytest.raises(BadCredentials, match="999999999999"):
        changer.look(Target(account="999999999999", region="us-east-1"), ["vol-1"])


def test_exactly_the_permissions_that_are_printed_are_used(monkeypatch):
    used = set()

    def note(model, **_call):
        used.add(f"{model.service_model.endpoint_prefix}:{model.name}")

    with changing(monkeypatch) as (there, changer):
        name = id_of(there)
        for service in ("ec2", "cloudtrail"):
            for sessions in (changer.sessions, changer._once):
                sessions.client(service, HOME, HERE.region).meta.events.register("before-call.*", note)
        changer.look(HERE, [name])
        changer.find_starts(HERE, name, there.front.living.clock.now() - timedelta(days=1))
        changer.modify(HERE, name, NOW_SPEC, THEN, REQUEST)
    others = {"cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData", "sts:GetCallerIdentity"}
    assert used | others == CHANGE


def test_a_plan_s_tag_takes_the_place_of_an_earlier_one_and_opens_its_volume_alone(monkeypatch):
    with changing(monkeypatch, rules=ModificationRules(tag=CHANGE_TAG)) as (there, changer):
        name = id_of(there)
        with pytest.raises(ModifyRefused) as refused:
            changer.modify(HERE, name, NOW_SPEC, THEN, REQUEST)
        assert refused.value.code == "UnauthorizedOperation"
        for plan in ("plan-1", "plan-2"):
            changer.tag(HERE, [name], plan)
            assert changer.look(HERE, [name])[name].tags[CHANGE_TAG] == plan
        changer.modify(HERE, name, NOW_SPEC, THEN, REQUEST)
        assert count(there) == 1
