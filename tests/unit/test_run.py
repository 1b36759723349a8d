"""A run: what was answered stays when it is interrupted, and going on answers the rest and only the rest."""

import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from plimsoll.auditing.ports import AuditPorts
from plimsoll.model.errors import (
    AccessDenied,
    BadInput,
    DeniedByPolicy,
    DiskFull,
    NothingRead,
    RegionDenied,
    Throttled,
    Unreachable,
    VolumeGone,
)
from plimsoll.model.policy import Policy
from plimsoll.orders import Order, read_order
from plimsoll.outcomes import Answered
from plimsoll.ports import FailedTarget, Target, UnreadVolume
from plimsoll.reports.run_folder import Held, bring_up_to_date
from plimsoll.reports.run_reader import read_records, read_run, stream_unanswered
from plimsoll.reports.story.run import failed_places
from tests.builders import NOW, TYPES, US_EAST_1, a_host, a_tariff, a_volume, some_sums
from tests.in_memory.ports import MemoryCatalog, MemoryInventory, MemoryMetrics, MemoryPrices
from tests.unit.reports.plain_runs import carry_out_plain as carry_out

DAYS = 3
MINUTES = DAYS * 24 * 60
POLICY = Policy(lookback_days=DAYS)
REPOSITORY = Path(__file__).parents[2]
KILLED = 40


@dataclass(slots=True)
class AskedMetrics(MemoryMetrics):
    """Metrics in memory that also know whose were asked for."""

    asked: list[str] = field(default_factory=list)

    def read(self, asks):
        self.asked += [ask.volume.id for ask in asks]
        return MemoryMetrics.read(self, asks)


def volumes(count, region="us-east-1", **fields):
    """Volumes that are each alone on a host."""
    return [
        a_volume("gp2", 500, id=f"vol-{region}-{number}", on=a_host(id=f"i-{region}-{number}"), region=region, **fields)
        for number in range(count)
    ]


def a_world(given, *, broken_metrics=None, **inventory):
    start_s = int((NOW - timedelta(days=DAYS)).timestamp())
    # 200 operations and 4 MiB a second, minute by minute
    sums = some_sums(start_s=start_s, buckets=MINUTES, read_ops=60 * 200.0, read_bytes=60 * 4.0 * 2**20)
    return AuditPorts(
        query_cost=a_tariff(),
        inventory=MemoryInventory(given=given, **inventory),
        metrics=AskedMetrics(given={volume.id: sums for volume in given}, broken=broken_metrics or {}),
        prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
        catalog=MemoryCatalog(types=TYPES, provider="aws"),
        envelopes=(),
    )


def an_order(folder, policy=POLICY):
    scope = {"profiles": ["audit"], "regions": ["us-east-1"]}
    return Order(folder=folder, scope=scope, policy=policy, now=NOW)


def in_silence(_progress, _outcome):
    return None


def stopping_after(count, error=KeyboardInterrupt):
    """A listener that stops the run after so many answers."""
    answers = []

    def tell(_progress, outcome):
        if isinstance(outcome, Answered):
            answers.append(outcome)
            if len(answers) == count:
                raise error

    return tell


def answered_in(folder):
    return [record.volume_id for record in read_records(folder)]


def stopped_after(count, folder, ports, error=KeyboardInterrupt):
    with pytest.raises(error):
        carry_out(an_order(folder), [ports], stopping_after(count, error))


def test_a_run_answers_every_volume_and_is_complete(tmp_path):
    run, best = carry_out(an_order(tmp_path / "one"), [a_world(volumes(3))], in_silence)
    assert run["status"] == "complete"
    assert run["volumes"] == {"seen": 3, "answered": 3, "skipped": {}, "failed": 0, "unpriced": 0, "reconciled": True}
    assert len(answered_in(tmp_path / "one")) == 3
    assert [record.action for record in best] == ["migrate"] * 3
    assert run["id"] == "one"


def test_what_a_run_gives_is_what_its_folder_says(tmp_path):
    run, _ = carry_out(an_order(tmp_path), [a_world(volumes(2))], in_silence)
    assert read_run(tmp_path).plain == run
    assert sum(record.monthly_usd_saved for record in read_records(tmp_path)) == run["monthly_usd"]["saved"]


def test_a_run_counts_what_it_asked_and_what_that_costs(tmp_path):
    ports = a_world(volumes(2))
    run, _ = carry_out(an_order(tmp_path), [ports], in_silence)
    assert run["usage"]["metrics"] == ports.metrics.usage.metrics > 0
    assert run["usage"]["estimated_usd"] == round(ports.metrics.usage.metrics / 1000 * 0.01, 4)
    assert {"inventory", "metrics", "decide", "prices"} <= run["seconds"].keys()
    assert run["versions"].keys() >= {"plimsoll", "python"}


def test_run_json_says_running_while_it_runs(tmp_path):
    seen = []
    carry_out(an_order(tmp_path), [a_world(volumes(1))], lambda _p, _o: seen.append(read_run(tmp_path).status))
    assert set(seen) == {"running"}
    assert read_run(tmp_path).status == "complete"


def test_listeners_hear_every_outcome_after_it_is_counted(tmp_path):
    counts = []
    carry_out(
        an_order(tmp_path), [a_world(volumes(3))], lambda progress, _o: counts.append(progress.totals.answered_count)
    )
    assert sorted(counts) == counts
    assert counts[-1] == 3


# ---- interrupted


@pytest.mark.parametrize("count", [1, 2, 4])
def test_an_interrupted_run_keeps_what_was_answered_and_says_so(tmp_path, count):
    stopped_after(count, tmp_path, a_world(volumes(5)))
    assert len(answered_in(tmp_path)) == count
    run = read_run(tmp_path).plain
    assert run["status"] == "interrupted"
    assert run["volumes"]["answered"] == count


def test_a_run_stopped_by_an_error_keeps_what_was_answered_and_the_error_goes_on(tmp_path):
    stopped_after(2, tmp_path, a_world(volumes(5)), error=MemoryError)
    assert len(answered_in(tmp_path)) == 2
    assert read_run(tmp_path).status == "interrupted"


def test_going_on_answers_the_rest_and_only_the_rest(tmp_path):
    given = volumes(5)
    stopped_after(2, tmp_path, a_world(given))
    before = read_records(tmp_path)
    ports = a_world(given)
    run, _ = carry_out(read_order(tmp_path), [ports], in_silence)
    assert read_records(tmp_path)[:2] == before
    assert sorted(answered_in(tmp_path)) == sorted(volume.id for volume in given)
    assert set(ports.metrics.asked) == {volume.id for volume in given} - {one.volume_id for one in before}
    assert run["status"] == "complete"
    assert run["volumes"] == {"seen": 5, "answered": 5, "skipped": {}, "failed": 0, "unpriced": 0, "reconciled": True}


def test_an_interrupted_and_resumed_run_ends_as_one_that_was_never_stopped(tmp_path):
    given = volumes(4)
    whole, best = carry_out(an_order(tmp_path / "whole"), [a_world(given)], in_silence)
    stopped_after(1, tmp_path / "halves", a_world(given))
    stopped_after(1, tmp_path / "halves", a_world(given))
    halves, best_of_halves = carry_out(read_order(tmp_path / "halves"), [a_world(given)], in_silence)
    assert read_records(tmp_path / "halves") == read_records(tmp_path / "whole")
    assert best_of_halves == best
    for key in ("volumes", "actions", "monthly_usd", "failures", "status"):
        assert halves[key] == whole[key]


def test_going_on_with_a_complete_run_asks_for_nothing(tmp_path):
    carry_out(an_order(tmp_path), [a_world(volumes(2))], in_silence)
    before = read_records(tmp_path)
    ports = a_world(volumes(2))
    run, _ = carry_out(read_order(tmp_path), [ports], in_silence)
    assert ports.metrics.asked == []
    assert read_records(tmp_path) == before
    assert run["status"] == "complete"


def test_a_resumed_run_has_the_scope_the_policy_and_the_time_it_was_begun_with(tmp_path):
    policy = Policy(lookback_days=DAYS, headroom_pct=45, target_types=("gp3",))
    carry_out(an_order(tmp_path, policy), [a_world(volumes(1))], in_silence)
    order = read_order(tmp_path)
    assert (order.policy, order.now, order.folder) == (policy, NOW, tmp_path)
    assert order.scope == an_order(tmp_path).scope


def test_a_folder_that_is_no_run_cannot_be_resumed(tmp_path):
    with pytest.raises(BadInput, match="give the folder of a run"):
        read_order(tmp_path)


def test_a_volume_beside_an_answered_one_on_its_host_is_still_judged_with_it(tmp_path):
    host = a_host()
    given = [a_volume("gp2", 500, id=f"vol-{number}", on=host) for number in range(3)]
    whole, _ = carry_out(an_order(tmp_path / "whole"), [a_world(given)], in_silence)
    stopped_after(1, tmp_path / "halves", a_world(given))
    ports = a_world(given)
    halves, _ = carry_out(read_order(tmp_path / "halves"), [ports], in_silence)
    assert set(ports.metrics.asked) == {volume.id for volume in given}
    assert read_records(tmp_path / "halves") == read_records(tmp_path / "whole")
    assert halves["monthly_usd"] == whole["monthly_usd"]


# ---- partial


def test_a_volume_that_could_not_be_read_makes_a_run_partial_and_is_tried_again(tmp_path):
    given = volumes(3)
    throttled = {given[1].id: Throttled("CloudWatch kept asking for fewer calls")}
    run, _ = carry_out(an_order(tmp_path), [a_world(given, broken_metrics=throttled)], in_silence)
    assert run["status"] == "partial"
    assert run["volumes"] == {"seen": 3, "answered": 2, "skipped": {}, "failed": 1, "unpriced": 0, "reconciled": True}
    assert given[1].id not in answered_in(tmp_path)
    ports = a_world(given)
    again, _ = carry_out(read_order(tmp_path), [ports], in_silence)
    assert set(ports.metrics.asked) == {given[1].id}
    assert again["status"] == "complete"


def test_a_target_that_cannot_be_reached_costs_itself_only(tmp_path):
    lost = FailedTarget(name="444455556666", error=AccessDenied("the role cannot be assumed"))
    run, _ = carry_out(an_order(tmp_path), [a_world(volumes(2), unreachable=[lost])], in_silence)
    assert run["status"] == "partial"
    assert run["failures"]["targets"] == {"444455556666": "the role cannot be assumed"}
    assert run["volumes"]["answered"] == 2


def test_a_region_that_breaks_off_loses_its_volumes_by_name_and_no_other_region_s(tmp_path):
    given = [*volumes(2), *volumes(2, region="eu-west-1")]
    broken = {Target(account="111122223333", region="eu-west-1"): AccessDenied("no ec2:DescribeVolumes")}
    run, _ = carry_out(an_order(tmp_path), [a_world(given, broken=broken)], in_silence)
    assert run["status"] == "partial"
    assert run["volumes"] == {"seen": 4, "answered": 2, "skipped": {}, "failed": 2, "unpriced": 0, "reconciled": True}
    assert run["failures"]["volumes"] == {
        "111122223333/eu-west-1": {"no ec2:DescribeVolumes": ["vol-eu-west-1-0", "vol-eu-west-1-1"]}
    }


def test_excluded_volumes_are_counted_and_a_run_with_them_is_complete(tmp_path):
    given = [*volumes(1), a_volume("gp2", id="vol-kept", on=a_host(id="i-9"), tags={"plimsoll:exclude": "true"})]
    run, _ = carry_out(an_order(tmp_path), [a_world(given)], in_silence)
    assert run["status"] == "complete"
    assert run["volumes"]["skipped"] == {"excluded by the policy: tag plimsoll:exclude=true": 1}
    assert run["volumes"]["reconciled"]


def test_a_region_without_prices_saves_nothing_and_says_so(tmp_path):
    run, best = carry_out(an_order(tmp_path), [a_world(volumes(1, region="eu-west-1"))], in_silence)
    assert run["prices"] == {"111122223333/eu-west-1": {"source": "none", "as_of": None}}
    assert (run["monthly_usd"]["saved"], best) == (0, [])


def test_targets_without_volumes_are_a_complete_run(tmp_path):
    target = Target(account="111111111111", region="us-east-1")
    run, _ = carry_out(an_order(tmp_path), [a_world([], empty=[target])], in_silence)
    assert run["status"] == "complete"
    assert read_records(tmp_path) == []


@pytest.mark.parametrize("places", [0, 1, 3])
def test_where_nothing_could_be_read_there_is_no_run(tmp_path, places):
    locked = [FailedTarget(name=f"place {number}", error=AccessDenied("no way in.")) for number in range(places)]
    with pytest.raises(NothingRead, match="no way in" if places else "name some"):
        carry_out(an_order(tmp_path / "run"), [a_world([], unreachable=locked)], in_silence)
    assert not (tmp_path / "run").exists()


def test_every_place_that_could_not_be_read_is_named_with_its_reason(tmp_path):
    reasons = {"one": "no way in.", "two": "no way in.", "three": "too many calls.", "four": "cannot read four: lost."}
    locked = [FailedTarget(name=name, error=AccessDenied(reason)) for name, reason in reasons.items()]
    with pytest.raises(NothingRead) as told:
        carry_out(an_order(tmp_path / "run"), [a_world([], unreachable=locked)], in_silence)
    lines = str(told.value).splitlines()[1:]
    assert lines == ["one, two: no way in.", "three: too many calls.", "four: cannot read four: lost."]


@pytest.mark.parametrize(
    ("meant", "kind", "expected"),
    [(False, DeniedByPolicy, False), (True, DeniedByPolicy, True), (False, RegionDenied, True)],
)
def test_places_that_an_organization_denies_are_one_line_and_no_failure_where_that_is_meant(
    tmp_path, meant, kind, expected
):
    (volume,) = volumes(1)
    denied = [Target(account=volume.account, region=region) for region in ("eu-west-2", "eu-west-3")]
    broken = {one: kind(f"cannot read {one}: explicit deny in a service control policy.") for one in denied}
    world = replace(a_world([volume], broken=broken, empty=denied), denied_places_expected=meant)
    run, _ = carry_out(an_order(tmp_path), [world], in_silence)
    assert run["status"] == ("complete" if expected else "partial")
    told = list(failed_places(run["failures"]["targets"]))
    if expected:
        assert (set(run["notices"]), told) == ({str(one) for one in denied}, [])
    else:
        ((places, reason),) = told
        assert sorted(places) == [str(one) for one in denied]
        assert "explicit deny in a service control policy" in reason


def test_a_volume_that_was_deleted_meanwhile_is_named_and_leaves_the_run_complete(tmp_path):
    (volume,) = volumes(1)
    gone = UnreadVolume(id="vol-gone", error=VolumeGone("deleted meanwhile: vol-gone."))
    here = Target(account=volume.account, region=volume.region)
    world = a_world([volume], unread={here: [gone]})
    run, _ = carry_out(an_order(tmp_path), [world], in_silence)
    assert (run["status"], run["volumes"]["reconciled"]) == ("complete", True)
    assert run["volumes"]["skipped"] == {"deleted meanwhile": 1}
    assert [one.volume_id for one in stream_unanswered(tmp_path)] == ["vol-gone"]


def test_a_place_whose_list_breaks_off_is_not_read(tmp_path):
    (volume,) = volumes(1)
    target = Target(account=volume.account, region=volume.region)
    broken = {target: Unreachable("the list broke off.")}
    with pytest.raises(NothingRead, match="the list broke off"):
        carry_out(an_order(tmp_path / "run"), [a_world([volume], broken=broken)], in_silence)
    assert not (tmp_path / "run").exists()


def stopping_at(count):
    """What says after so many questions that nothing new is to be begun."""
    asked = []

    def stop():
        asked.append(1)
        return len(asked) > count

    return stop


def test_a_run_that_is_stopped_answers_what_is_under_way_and_is_gone_on_with(tmp_path):
    given = volumes(6)
    ports = replace(a_world(given), batch_volumes=2)
    run, _ = carry_out(an_order(tmp_path), [ports], in_silence, stop=stopping_at(2))
    assert (run["status"], len(answered_in(tmp_path))) == ("interrupted", 2)
    again = replace(a_world(given), batch_volumes=2)
    run, _ = carry_out(read_order(tmp_path), [again], in_silence)
    assert (run["status"], run["volumes"]["answered"]) == ("complete", 6)
    assert len(set(again.metrics.asked)) == 4


def test_what_is_answered_already_takes_no_time_from_what_is_not(tmp_path):
    given = volumes(6)
    for _ in range(3):
        ports = replace(a_world(given), batch_volumes=2)
        run, _ = carry_out(an_order(tmp_path), [ports], in_silence, stop=stopping_at(2))
    assert run["status"] == "complete"


def test_a_run_that_is_told_to_stop_at_its_end_is_complete(tmp_path):
    run, _ = carry_out(an_order(tmp_path), [a_world(volumes(2))], in_silence, stop=stopping_at(2))
    assert run["status"] == "complete"


IRELAND = "eu-west-1"


@pytest.mark.parametrize(
    ("before", "after", "places", "failed"),
    [
        (volumes(2), volumes(2), [], []),
        ([*volumes(2), *volumes(1, IRELAND)], volumes(2), ["111122223333/eu-west-1"], []),
        (volumes(2), [*volumes(2), *volumes(1, IRELAND)], [], []),
        (volumes(2), volumes(1), [], ["vol-us-east-1-1"]),
    ],
    ids=["the same", "a place is missing", "a place is new", "a volume is missing"],
)
def test_what_an_earlier_part_listed_and_no_list_has_any_more_is_named(tmp_path, before, after, places, failed):
    unread = {volume.id: Throttled("GetMetricData was throttled") for volume in before}
    run, _ = carry_out(an_order(tmp_path), [a_world(before, broken_metrics=unread)], in_silence)
    assert run["volumes"]["failed"] == len(before)
    for _ in range(2):  # it is not forgotten when the run goes on once more
        run, _ = carry_out(read_order(tmp_path), [a_world(after)], in_silence)
        assert list(run["failures"]["targets"]) == places
        assert [one.volume_id for one in stream_unanswered(tmp_path) if one.outcome == "failed"] == failed
        assert run["status"] == ("partial" if places or failed else "complete")
        assert run["volumes"]["reconciled"]


def test_a_place_that_was_not_reached_before_the_end_is_named_where_no_list_has_it_any_more(tmp_path):
    both = [*volumes(2), *volumes(2, IRELAND)]
    stopped_after(1, tmp_path, a_world(both))
    run, _ = carry_out(read_order(tmp_path), [a_world([one for one in both if one.region != IRELAND])], in_silence)
    assert [name.partition("/")[2] for name in run["failures"]["targets"]] == [IRELAND]
    gone = {name.partition("/")[0]: AccessDenied("no role there") for name in run["failures"]["targets"]}
    failed = [FailedTarget(name=name, error=error) for name, error in gone.items()]
    run, _ = carry_out(read_order(tmp_path), [a_world([], unreachable=failed)], in_silence)
    assert list(run["failures"]["targets"]) == list(gone)


# ---- disks


@dataclass(slots=True)
class Disk:
    """A disk of so many MiB that can be made larger."""

    place: Path

    def of(self, mib, *options):
        words = ["mount", "-t", "tmpfs", "-o", ",".join([f"size={mib}m", *options]), "tmpfs", str(self.place)]
        return subprocess.run(words, check=False, capture_output=True).returncode == 0


@pytest.fixture
def disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    made = Disk(place)
    if not made.of(1):
        pytest.skip("needs the right to mount a file system")
    yield made
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_without_room_is_refused_before_anything_is_paid_for(disk):
    ports = a_world(volumes(3))
    with pytest.raises(BadInput, match=r"has 1 MiB of room, and the 3 volumes of \S+ take about 8: make room"):
        carry_out(an_order(disk.place / "run"), [ports], in_silence)
    assert ports.metrics.asked == []
    assert list(disk.place.iterdir()) == []


def test_a_disk_that_becomes_full_keeps_what_was_answered_and_is_gone_on_with(disk, tmp_path, monkeypatch):
    given = volumes(60)
    carry_out(an_order(tmp_path / "whole"), [a_world(given)], in_silence)
    monkeypatch.setattr("plimsoll.run.RESERVED_BYTES", 0)
    monkeypatch.setattr("plimsoll.run.BYTES_A_VOLUME", 0)
    (disk.place / "filled").write_bytes(bytes(800_000))
    with pytest.raises(DiskFull, match="its disk is full"):
        carry_out(an_order(disk.place / "run"), [a_world(given)], in_silence)
    assert disk.of(20, "remount")
    ports = a_world(given)
    run, _ = carry_out(read_order(disk.place / "run"), [ports], in_silence)
    assert 0 < len(set(ports.metrics.asked)) < len(given)
    assert run["status"] == "complete"
    assert read_records(disk.place / "run") == read_records(tmp_path / "whole")


def test_a_run_that_is_written_already_is_refused(tmp_path):
    def begin_again(_progress, _outcome):
        carry_out(an_order(tmp_path), [a_world(volumes(1))], in_silence)

    with pytest.raises(Held, match="is being written by process"):
        carry_out(an_order(tmp_path), [a_world(volumes(1))], begin_again)


# ---- killed


def test_a_run_that_is_killed_again_and_again_ends_with_the_same_answers(tmp_path):
    """Two kills at moments of chance, each while answers are written."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    carry_out(an_order(whole), [a_world(volumes(KILLED))], in_silence)
    program = f"import sys; from tests.unit.test_run import slowly; slowly(sys.argv[1], {KILLED})"
    chance = random.Random(19)
    for _ in range(2):
        words = [sys.executable, "-c", program, str(killed)]
        with subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.3))
            process.kill()
        assert process.returncode == -signal.SIGKILL
        bring_up_to_date(killed)
        run = read_run(killed).plain
        assert run["status"] == "interrupted"
        assert run["volumes"]["answered"] == len(read_records(killed)) > 0
    carry_out(read_order(killed), [a_world(volumes(KILLED))], in_silence)
    for name in ("recommendations.json", "recommendations.csv", "demand.jsonl", "unanswered.jsonl"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert read_run(killed).monthly_usd == read_run(whole).monthly_usd


def slowly(folder, count):
    """Carries the run out with a pause after each answer; says when the first is there."""

    def tell(_progress, outcome):
        if isinstance(outcome, Answered):
            sys.stdout.write("answered\n")
            sys.stdout.flush()
            time.sleep(0.02)

    carry_out(an_order(Path(folder)), [a_world(volumes(count))], tell)
