"""The audit on a cloud in memory: every volume ends in one outcome, and a failure costs only what it touches."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.auditing.at_once import BATCHES_AT_ONCE
from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.decide import EVERY_MINUTE_BATCH_VOLUMES
from plimsoll.auditing.ports import AuditPorts
from plimsoll.decide.answer import NO_CHANGE, InsufficientData, Keep, Migrate, Reprovision
from plimsoll.model.errors import AccessDenied, CloudError, RegionUnavailable, Throttled, Unexpected
from plimsoll.model.policy import OPT_OUT, Override, TagMatch
from plimsoll.model.units import MIB
from plimsoll.outcomes import (
    ANSWERED_BEFORE,
    EXCLUDED,
    Answered,
    FailedVolume,
    InScope,
    Notice,
    Planned,
    Skipped,
    VolumesSeen,
)
from plimsoll.ports import FailedTarget, Target, UnreadVolume
from plimsoll.reading.window import Window
from plimsoll.reports.answers import answered_record, steps_text
from plimsoll.reports.totals import RunTotals
from tests.builders import NOW, TYPES, US_EAST_1, a_host, a_policy, a_stripe_set, a_tariff, a_volume, some_sums
from tests.in_memory.ports import MemoryCatalog, MemoryInventory, MemoryMetrics, MemoryPrices
from tests.profiles import examples

HERE = Target(account="111122223333", region="us-east-1")
DAYS = 2
START_S = int(NOW.timestamp()) - DAYS * 86_400
POLICY = a_policy(lookback_days=DAYS)
OUTCOMES_OF_VOLUMES = (Answered, Skipped, FailedVolume)
DENIED = AccessDenied("cannot read metrics in 111122223333/us-east-1: AccessDenied. Allow the action.")


def steady(iops=100.0, throughput_mib_s=5.0):
    """The minutes of two days at one rate."""
    return some_sums(start_s=START_S, write_ops=iops * 60, write_bytes=throughput_mib_s * 60 * MIB, buckets=DAYS * 1440)


@dataclass
class WatchedMetrics(MemoryMetrics):
    """Metrics in memory that remember which volumes were read together; `broken_whole` fails every read."""

    reads: list[set[str]] = field(default_factory=list)
    broken_whole: CloudError | None = None

    def read(self, asks):
        self.reads.append({ask.volume.id for ask in asks})
        if self.broken_whole is not None:
            raise self.broken_whole
        return MemoryMetrics.read(self, asks)


@dataclass(kw_only=True)
class BreakingInventory:
    """An inventory whose targets fail after so many volumes, and whose notices fail where they are said to."""

    inventory: MemoryInventory
    breaks_after: Mapping[Target, int] = field(default_factory=dict)
    notices_broken: CloudError | None = None

    def targets(self) -> Sequence[Target | FailedTarget]:
        return self.inventory.targets()

    def volumes(self, target: Target) -> Iterator:
        for index, volume in enumerate(self.inventory.volumes(target)):
            if index == self.breaks_after.get(target):
                raise RegionUnavailable(f"{target} is switched off.")
            yield volume

    def notices(self, target: Target) -> Sequence[str]:
        if self.notices_broken is not None:
            raise self.notices_broken
        return self.inventory.notices(target)


def a_world(volumes, sums=None, *, inventory=None, metrics=None, books=None):
    """A ports of these volumes, each at a steady low rate unless its sums are given."""
    given = {volume.id: steady() for volume in volumes} | dict(sums or {})
    return AuditPorts(
        query_cost=a_tariff(),
        inventory=inventory or MemoryInventory(given=volumes),
        metrics=metrics or WatchedMetrics(given=given),
        prices=MemoryPrices(books={"us-east-1": US_EAST_1, "eu-west-1": US_EAST_1} if books is None else books),
        catalog=MemoryCatalog(types=TYPES, provider="aws"),
        envelopes=(),
    )


def outcomes(ports, policy=POLICY, *, done=frozenset()):
    return list(run_audit(ports, policy, NOW, done=done))


def id_of(outcome):
    return outcome.recommendation.volume.id if isinstance(outcome, Answered) else outcome.volume_id


def by_volume(found):
    """Every outcome of a volume, by its id; fails where one has two."""
    listed = [outcome for outcome in found if isinstance(outcome, OUTCOMES_OF_VOLUMES)]
    assert max(Counter(map(id_of, listed)).values(), default=0) <= 1
    return {id_of(outcome): outcome for outcome in listed}


def of_type(found, kind):
    return [outcome for outcome in found if isinstance(outcome, kind)]


def test_an_account_of_one_volume_is_seen_priced_and_answered():
    found = outcomes(a_world([a_volume("gp2", 500)]))
    assert of_type(found, VolumesSeen) == [VolumesSeen(target=HERE, volumes=1)]
    answer = by_volume(found)["vol-1"]
    assert isinstance(answer.recommendation, Migrate)
    assert steps_text(answer.change.forth) == "change vol-1 to gp3 500 GiB 3,000 IOPS 125 MiB/s"
    assert steps_text(answer.change.back) == "change vol-1 to gp2 500 GiB"
    assert answer.target == HERE


def test_what_is_kept_has_no_change_to_make():
    answer = by_volume(outcomes(a_world([a_volume("gp3", 500)])))["vol-1"]
    assert isinstance(answer.recommendation, Keep)
    assert answer.change == NO_CHANGE


def test_volumes_that_could_not_be_read_fail_by_name_and_the_others_are_answered():
    volumes = [a_volume("gp2", 500, id=name) for name in ("vol-1", "vol-2")]
    bad = Unexpected("cannot read vol-2: Size is missing.")
    lost = UnreadVolume(id=None, error=Unexpected("cannot read a volume: VolumeId is missing."))
    unread = {HERE: [UnreadVolume(id="vol-2", error=bad), UnreadVolume(id="vol-3", error=bad), lost]}
    found = outcomes(
        a_world(volumes, inventory=MemoryInventory(given=volumes, unread=unread)), done=frozenset({"vol-3"})
    )
    ended = by_volume(found)
    assert isinstance(ended["vol-1"], Answered)
    assert ended["vol-2"] == FailedVolume(target=HERE, volume_id="vol-2", reason=str(bad))
    assert isinstance(ended["vol-3"], Skipped)
    assert of_type(found, VolumesSeen) == [VolumesSeen(target=HERE, volumes=3)]
    assert [failure.error for failure in failures(found)] == [lost.error]


def test_a_stripe_set_with_a_volume_that_could_not_be_read_is_not_said_to_have_changed():
    unread = {HERE: [UnreadVolume(id=name, error=Unexpected("no")) for name in ("vol-1", "vol-2")]}
    ports = a_world([], inventory=MemoryInventory(given=[], unread=unread, empty=[HERE]))
    stripes = a_stripe_set("vol-1", "vol-2")
    assert of_type(outcomes(replace(ports, stripes=[stripes])), Notice) == []


def test_an_empty_account_has_no_outcome_at_all():
    assert outcomes(a_world([])) == [InScope(targets=())]


@st.composite
def organizations(draw):
    """Volumes of every fate over a few accounts and hosts, with what goes wrong, and what was answered before."""
    volumes, broken = [], {}
    for index in range(draw(st.integers(0, 12))):
        fate = draw(st.sampled_from(["read", "read", "read", "detached", "excluded", "unknown", "broken", "silent"]))
        host = a_host("m5.24xlarge", id=f"i-{draw(st.integers(0, 3))}")
        volumes.append(
            a_volume(
                "gp9" if fate == "unknown" else draw(st.sampled_from(["gp2", "gp3", "io2"])),
                id=f"vol-{index}",
                account=draw(st.sampled_from(["111122223333", "222233334444"])),
                region=draw(st.sampled_from(["us-east-1", "eu-west-1", "af-south-1"])),
                on=[] if fate == "detached" else host,
                tags={"plimsoll:exclude": "true"} if fate == "excluded" else {},
            )
        )
        if fate == "broken":
            broken[f"vol-{index}"] = DENIED
    ids = [volume.id for volume in volumes]
    silent = draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    done = frozenset(draw(st.lists(st.sampled_from(ids), unique=True)) if ids else [])
    targets = sorted({Target(account=volume.account, region=volume.region) for volume in volumes})
    breaks = draw(st.dictionaries(st.sampled_from(targets), st.integers(0, 3), max_size=2)) if targets else {}
    given = {volume.id: steady() for volume in volumes if volume.id not in silent}
    inventory = BreakingInventory(
        inventory=MemoryInventory(
            given=volumes,
            unreachable=draw(st.sampled_from([(), (FailedTarget(name="333344445555", error=DENIED),)])),
        ),
        breaks_after=breaks,
    )
    metrics = WatchedMetrics(given=given, broken=broken)
    return volumes, a_world(volumes, inventory=inventory, metrics=metrics), done


@given(organizations())
@settings(max_examples=examples(60))
def test_every_listed_volume_ends_in_exactly_one_outcome_and_the_totals_reconcile(organization):
    volumes, ports, done = organization
    found = outcomes(ports, done=done)
    ended = by_volume(found)
    broken = {failure.name for failure in failures(found)}
    for seen in of_type(found, VolumesSeen):
        own = {volume.id for volume in volumes if (volume.account, volume.region) == place_of(seen)}
        answered = {volume_id for volume_id, outcome in ended.items() if outcome.target == seen.target}
        assert len(answered) == seen.volumes
        assert answered <= own if str(seen.target) in broken else answered == own

    totals = RunTotals.add_up(found)
    records = [answered_record(one) for one in of_type(found, Answered)]
    assert totals.is_reconciled
    assert totals.seen == len(ended)
    assert totals.is_partial == bool(broken or of_type(found, FailedVolume))
    assert totals.usd_now == pytest.approx(sum(record.monthly_usd_now or 0 for record in records))


def place_of(seen):
    return seen.target.account, seen.target.region


def failures(found):
    return of_type(found, FailedTarget)


@given(organizations())
@settings(max_examples=examples(60))
def test_only_what_was_read_is_answered_from_metrics(organization):
    _, ports, done = organization
    for volume_id, outcome in by_volume(outcomes(ports, done=done)).items():
        if isinstance(outcome, Answered) and outcome.recommendation.action != "detached":
            assert volume_id not in ports.metrics.broken
            if volume_id not in ports.metrics.given:
                answer = outcome.recommendation
                assert isinstance(answer, InsufficientData) or not answer.measured


@given(organizations())
@settings(max_examples=examples(30))
def test_the_outcomes_of_a_target_are_those_it_has_alone(organization):
    volumes, ports, done = organization
    together = by_volume(outcomes(ports, done=done))
    for target in sorted({Target(account=volume.account, region=volume.region) for volume in volumes}):
        own = [volume for volume in volumes if (volume.account, volume.region) == (target.account, target.region)]
        inventory = BreakingInventory(inventory=MemoryInventory(given=own), breaks_after=ports.inventory.breaks_after)
        alone = by_volume(outcomes(replace(ports, inventory=inventory), done=done))
        assert alone.keys() == {id_of(outcome) for outcome in together.values() if outcome.target == target}
        for volume_id, outcome in alone.items():
            assert type(outcome) is type(together[volume_id])
            if isinstance(outcome, Answered):
                assert outcome.recommendation.action == together[volume_id].recommendation.action


def test_a_target_that_fails_midway_fails_its_listed_volumes_and_stops_no_other():
    volumes = [
        a_volume(id=f"{region}-{index}", region=region) for region in ("eu-west-1", "us-east-1") for index in (1, 2)
    ]
    dead = Target(account="111122223333", region="eu-west-1")
    inventory = BreakingInventory(inventory=MemoryInventory(given=volumes), breaks_after={dead: 1})
    found = outcomes(a_world(volumes, inventory=inventory))
    assert [str(failure.error) for failure in failures(found)] == ["111122223333/eu-west-1 is switched off."]
    assert of_type(found, VolumesSeen) == [VolumesSeen(target=dead, volumes=1), VolumesSeen(target=HERE, volumes=2)]
    ended = by_volume(found)
    assert isinstance(ended["eu-west-1-1"], FailedVolume)
    assert ended["eu-west-1-1"].reason == "111122223333/eu-west-1 is switched off."
    assert isinstance(ended["us-east-1-1"], Answered)
    assert isinstance(ended["us-east-1-2"], Answered)
    assert "eu-west-1-2" not in ended


def test_a_target_that_cannot_be_reached_is_named_and_stops_no_other():
    lost = FailedTarget(name="333344445555", error=DENIED)
    volumes = [a_volume()]
    found = outcomes(a_world(volumes, inventory=MemoryInventory(given=volumes, unreachable=[lost])))
    assert failures(found) == [lost]
    assert isinstance(by_volume(found)["vol-1"], Answered)


def test_a_volume_whose_metrics_fail_is_a_failure_and_never_an_answer():
    volumes = [a_volume(id="good"), a_volume(id="bad", on=a_host(id="i-2"))]
    metrics = WatchedMetrics(given={"good": steady(), "bad": steady()}, broken={"bad": DENIED})
    ended = by_volume(outcomes(a_world(volumes, metrics=metrics)))
    assert isinstance(ended["good"], Answered)
    assert ended["bad"] == FailedVolume(target=HERE, volume_id="bad", reason=str(DENIED))


def test_when_no_metric_can_be_read_every_volume_that_needs_one_has_failed():
    volumes = [a_volume(id="attached"), a_volume(id="detached", on=[]), a_volume("gp9", id="unknown")]
    metrics = WatchedMetrics(given={}, broken_whole=Throttled("CloudWatch asked for fewer calls."))
    ended = by_volume(outcomes(a_world(volumes, metrics=metrics)))
    assert ended["attached"].reason == "CloudWatch asked for fewer calls."
    assert ended["detached"].recommendation.action == "detached"
    assert "no published limits" in ended["unknown"].reason


def test_a_volume_that_fails_in_one_part_of_the_window_has_failed():
    class ForgetsTheOld(WatchedMetrics):
        def read(self, asks):
            answers = WatchedMetrics.read(self, asks)
            old = START_S - 86_400
            return [
                DENIED if ask.look.window.start_s < old else found for ask, found in zip(asks, answers, strict=True)
            ]

    volumes = [a_volume()]
    ports = a_world(volumes, metrics=ForgetsTheOld(given={"vol-1": steady()}))
    assert isinstance(by_volume(outcomes(ports, a_policy(lookback_days=30)))["vol-1"], FailedVolume)


@pytest.mark.parametrize(("visible_after_s", "minutes", "hours_less"), [(0, 3, 0), (240, 3, 1), (240, 4, 0)])
def test_what_comes_late_is_waited_for_by_ending_the_window_an_hour_earlier(visible_after_s, minutes, hours_less):
    ends = []

    class Late(MemoryMetrics):
        def read(self, asks):
            ends.extend(ask.look.window.end_s for ask in asks)
            return MemoryMetrics.read(self, asks)

    metrics = Late(given={"vol-1": steady()}, visible_after_s=visible_after_s)
    now = NOW + timedelta(minutes=minutes)
    found = list(run_audit(a_world([a_volume()], metrics=metrics), POLICY, now))
    assert isinstance(by_volume(found)["vol-1"], Answered)
    assert max(ends) == NOW.timestamp() - hours_less * 3600


def test_what_the_reading_of_metrics_showed_is_told_last_of_its_target():
    metrics = MemoryMetrics(given={"vol-1": steady()}, texts={HERE: ("some hosts are gone.",)})
    found = outcomes(a_world([a_volume()], metrics=metrics))
    assert found[-1] == Notice(target=HERE, text="some hosts are gone.")
    assert isinstance(by_volume(found)["vol-1"], Answered)


def test_silence_is_not_enough_to_answer():
    ports = a_world([a_volume("gp3")], metrics=WatchedMetrics(given={}))
    answer = by_volume(outcomes(ports))["vol-1"].recommendation
    assert isinstance(answer, InsufficientData)
    assert answer.demand.hours_observed == 0


def test_a_volume_of_an_unknown_type_is_named_with_what_to_do():
    ended = by_volume(outcomes(a_world([a_volume("gp9", id="new"), a_volume(id="old")])))
    assert ended["new"].reason.startswith("volume type gp9 has no published limits")
    assert isinstance(ended["old"], Answered)


def test_what_the_policy_excludes_is_skipped_with_the_tag_that_did_it():
    volumes = [a_volume(id="in"), a_volume(id="out", tags={"plimsoll:exclude": "true"})]
    ports = a_world(volumes)
    ended = by_volume(outcomes(ports))
    assert ended["out"] == Skipped(target=HERE, volume_id="out", reason=f"excluded by the policy: {OPT_OUT}")
    assert isinstance(ended["in"], Answered)


def test_what_people_excluded_is_left_out_with_who_and_why_and_still_loads_its_host():
    host = a_host("m5.large")
    busy, other = a_volume(id="busy", on=host), a_volume(id="other", on=host)
    tagged = [replace(busy, tags={"plimsoll:exclude": "true"}), other]
    said = replace(a_world([busy, other]), excluded={"busy": "excluded by jo"})
    ended, by_tag = by_volume(outcomes(said)), by_volume(outcomes(a_world(tagged)))
    assert ended["busy"] == Skipped(target=HERE, volume_id="busy", reason="excluded by jo", kind=EXCLUDED)
    assert ended["other"].recommendation == by_tag["other"].recommendation
    assert [one.plan for one in outcomes(said) if isinstance(one, Planned)] == [
        one.plan for one in outcomes(a_world(tagged)) if isinstance(one, Planned)
    ]


def test_an_excluded_volume_is_excluded_even_where_it_is_detached_or_of_an_unknown_type():
    out = {"tags": {"plimsoll:exclude": "true"}}
    volumes = [a_volume(id="detached", on=[], **out), a_volume("gp9", id="unknown", **out)]
    assert all(isinstance(outcome, Skipped) for outcome in by_volume(outcomes(a_world(volumes))).values())


def test_what_was_answered_before_is_left_alone():
    volumes = [a_volume(id="before"), a_volume(id="now", on=a_host(id="i-2"))]
    ports = a_world(volumes)
    ended = by_volume(outcomes(ports, done=frozenset({"before"})))
    assert ended["before"] == Skipped(target=HERE, volume_id="before", reason=ANSWERED_BEFORE)
    assert isinstance(ended["now"], Answered)
    assert set.union(*ports.metrics.reads) == {"now"}


def test_the_volumes_of_a_host_are_read_together_even_those_that_are_not_answered():
    host = a_host("m5.24xlarge")
    volumes = [
        a_volume(id="asked", on=host),
        a_volume(id="excluded", on=host, tags={"plimsoll:exclude": "true"}),
        a_volume(id="before", on=host),
        a_volume("gp9", id="unknown", on=host),
        a_volume(id="elsewhere", on=a_host(id="i-2"), tags={"plimsoll:exclude": "true"}),
    ]
    ports = a_world(volumes)
    outcomes(ports, done=frozenset({"before"}))
    assert ports.metrics.reads[0] == {"asked", "excluded", "before", "unknown"}
    assert set.union(*ports.metrics.reads) == ports.metrics.reads[0]


def test_an_excluded_sibling_still_counts_in_what_the_host_carries():
    host = a_host("m5.24xlarge")
    volumes = [
        a_volume("io2", 2000, iops=60_000, id="asked", on=host),
        a_volume("io2", 2000, iops=60_000, id="out", on=host, tags={"plimsoll:exclude": "true"}),
    ]
    ports = a_world(volumes, {volume.id: steady(iops=39_000, throughput_mib_s=500) for volume in volumes})
    answer = by_volume(outcomes(ports))["asked"].recommendation
    assert answer.demand.censored
    assert answer.demand.host_bound_minutes == DAYS * 1440


def test_a_sibling_that_cannot_be_read_is_never_taken_for_idle():
    host = a_host("m5.24xlarge")
    volumes = [a_volume("io2", 2000, iops=60_000, id=name, on=host) for name in ("asked", "unread")]
    given = {volume.id: steady(iops=39_000, throughput_mib_s=500) for volume in volumes}
    ports = a_world(volumes, metrics=WatchedMetrics(given=given, broken={"unread": DENIED}))
    outcome = by_volume(outcomes(ports))["asked"]
    assert not (isinstance(outcome, Answered) and isinstance(outcome.recommendation, Migrate | Reprovision))


def test_more_volumes_than_a_batch_are_read_in_several_and_no_host_is_parted():
    volumes = [a_volume(id=f"vol-{index}", on=a_host(id=f"i-{index % 80}")) for index in range(240)]
    ports = replace(a_world(volumes), every_minute=True)
    assert len(by_volume(outcomes(ports))) == 240
    batches = {frozenset(read) for read in ports.metrics.reads}
    assert len(batches) == 3
    hosts = [{volume.hosts[0].id for volume in volumes if volume.id in read} for read in batches]
    assert sum(map(len, hosts)) == 80
    assert all(len(read) <= EVERY_MINUTE_BATCH_VOLUMES for read in batches)


def test_an_old_window_is_read_in_the_periods_that_are_still_kept():
    ports = a_world([a_volume()])
    answer = by_volume(outcomes(ports, a_policy(lookback_days=90)))["vol-1"].recommendation
    assert answer.demand.resolution_s == 3600
    assert answer.demand.hours_observed == pytest.approx(DAYS * 24)


@given(st.integers(0, 24 * 60 - 1), st.integers(1, 90))
@settings(max_examples=examples(25))
def test_a_window_may_begin_at_any_minute(later, lookback_days):
    ports = a_world([a_volume()])
    now = NOW.fromtimestamp(NOW.timestamp() + later * 60, NOW.tzinfo)
    (answer,) = of_type(list(run_audit(ports, a_policy(lookback_days=lookback_days), now)), Answered)
    window = Window.before(now, days=lookback_days)
    seen_s = min(window.end_s, START_S + DAYS * 86_400) - max(window.start_s, START_S)
    assert answer.recommendation.demand.hours_observed == pytest.approx(max(0, seen_s) / 3600, abs=1e-6)


def test_a_region_without_a_price_is_said_to_be_without_one():
    ended = by_volume(outcomes(a_world([a_volume(region="af-south-1")])))
    answer = ended["vol-1"].recommendation
    assert isinstance(answer, InsufficientData)
    assert answer.reasons[0] == "There is no price for gp2 in af-south-1. Give one with --prices."


def test_notices_are_passed_on_and_their_failure_is_one():
    volumes = [a_volume()]
    inventory = MemoryInventory(given=volumes, texts={HERE: ["Another tool acts here."]})
    assert of_type(outcomes(a_world(volumes, inventory=inventory)), Notice) == [
        Notice(target=HERE, text="Another tool acts here.")
    ]
    failing = BreakingInventory(inventory=inventory, notices_broken=DENIED)
    found = outcomes(a_world(volumes, inventory=failing))
    assert of_type(found, Notice) == [Notice(target=HERE, text=str(DENIED))]
    assert isinstance(by_volume(found)["vol-1"], Answered)


def test_overrides_by_tag_decide_for_their_volumes_alone():
    careful = Override(match=TagMatch(tag="env", value="prod"), policy={"min_saving_usd_month": 1000.0})
    volumes = [a_volume(id="prod", tags={"env": "prod"}), a_volume(id="test", tags={"env": "test"})]
    ended = by_volume(outcomes(a_world(volumes), replace(POLICY, overrides=(careful,))))
    assert isinstance(ended["prod"].recommendation, Keep)
    assert isinstance(ended["test"].recommendation, Migrate)


def test_outcomes_come_as_a_stream():
    volumes = [a_volume(id=f"vol-{index}", on=a_host(id=f"i-{index}")) for index in range(220)]
    ports = replace(a_world(volumes), batch_volumes=50)
    stream = run_audit(ports, POLICY, NOW)
    next(outcome for outcome in stream if isinstance(outcome, Answered))
    read = set.union(*ports.metrics.reads)
    assert len(read) <= BATCHES_AT_ONCE * ports.batch_volumes + ports.batch_volumes
    stream.close()


def test_what_is_read_is_what_is_summed():
    sums = steady().with_series(write_ops=np.resize([600.0, 0.0], DAYS * 1440))
    ports = replace(a_world([a_volume()], {"vol-1": sums}), every_minute=True)
    answer = by_volume(outcomes(ports))["vol-1"].recommendation
    assert (answer.demand.peak_iops, answer.demand.mean_iops) == (10, 5)
    assert answer.demand.hours_observed == DAYS * 24


class BrokenPrices:
    """Prices that cannot be read."""

    def book(self, target):
        raise Throttled(f"cannot read prices of {target}.")


def test_prices_that_cannot_be_read_cost_their_target_only_its_prices():
    ports = replace(a_world([a_volume()]), prices=BrokenPrices())
    found = outcomes(ports)
    assert any(isinstance(one, FailedTarget) and one.name == f"prices of {HERE}" for one in found)
    assert isinstance(by_volume(found)["vol-1"].recommendation, InsufficientData)


def test_a_resumed_run_whose_listing_breaks_still_adds_up():
    volumes = [a_volume(id=f"vol-{index}", on=a_host(id=f"i-{index}")) for index in range(3)]
    inventory = BreakingInventory(inventory=MemoryInventory(given=volumes), breaks_after={HERE: 2})
    found = by_volume(outcomes(a_world(volumes, inventory=inventory), done=frozenset({"vol-0"})))
    assert isinstance(found["vol-0"], Skipped)
    assert found["vol-0"].reason == ANSWERED_BEFORE
    assert isinstance(found["vol-1"], FailedVolume)


def test_a_volume_that_is_listed_twice_is_answered_once():
    found = outcomes(a_world([a_volume(), a_volume()]))
    assert sum(isinstance(one, Answered) for one in found) == 1
    assert next(one for one in found if isinstance(one, VolumesSeen)).volumes == 1


def test_discounts_of_an_override_apply_to_its_volumes():
    volumes = [a_volume(id="plain"), a_volume(id="cheap", tags={"team": "lab"}, on=a_host(id="i-2"))]
    policy = replace(
        POLICY,
        overrides=(Override(match=TagMatch(tag="team"), policy={"discounts_pct": {"*": 50.0}}),),
    )
    found = by_volume(outcomes(a_world(volumes), policy))
    usd = {name: found[name].recommendation.usd_month_now for name in ("plain", "cheap")}
    assert usd["cheap"] == pytest.approx(usd["plain"] / 2)


def test_prices_older_than_a_year_are_a_notice():
    old = replace(US_EAST_1, as_of=NOW.date().replace(year=NOW.year - 2))
    found = outcomes(a_world([a_volume()], books={"us-east-1": old}))
    assert any(isinstance(one, Notice) and "savings may differ" in one.text for one in found)
