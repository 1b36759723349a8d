"""Remembering: a run is told what is new, what was done and what that saves, once, in whatever order its parts come."""

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.decide.history import FIRST_RULE
from plimsoll.model.people import Decision, DecisionKind
from plimsoll.ports import Target
from plimsoll.reports.diff.comparison import compare_runs
from plimsoll.reports.diff.sql import DiffGroup
from plimsoll.reports.totals import RunTotals
from plimsoll_service.history_update import MOST_NEWS, announce, empty_news, excluded_volumes, remember
from tests.in_memory.service import MemoryHistory
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.reports.strategies import fleets

MONDAY = datetime(2027, 1, 4, 6, tzinfo=UTC)
MADE = "2026-11-01T00:00:00+00:00"


@dataclass
class Kept(MemoryHistory):
    """A history in memory, which counts what is asked of it."""

    reads: int = 0
    written: list = field(default_factory=list)

    def entries(self, target, volume_ids):
        self.reads += 1
        return MemoryHistory.entries(self, target, volume_ids)

    def write(self, entries):
        self.written += entries
        MemoryHistory.write(self, entries)

    def decided_of(self, record, kind, week, **fields):
        place = {"account": record.account, "region": record.region, "volume_id": record.volume_id}
        said = Decision(id=f"{kind}-{week}", kind=kind, by="jo", at=MONDAY + timedelta(weeks=week, days=1), **place)
        assert self.decide(replace(said, **fields))


def run(history, *records, week=0):
    """The history's totals of a run of these records, and its news."""
    return remember(((one, None) for one in records), history, run_id=f"run-{week}", now=MONDAY + timedelta(weeks=week))


def carried_out(record):
    """The same volume once it is what was recommended."""
    return a_record("keep", volume_id=record.volume_id, current=record.target, target=record.target)


def test_a_first_run_is_all_news_and_the_second_is_none():
    history = Kept()
    records = [
        a_record(volume_id="vol-1"),
        a_record("detached", volume_id="vol-2"),
        a_record("keep", volume_id="vol-3"),
    ]
    (first, news), (second, _) = run(history, *records), run(history, *records, week=1)
    assert (first.new, first.done, second.new) == (2, 0, 0)
    assert [detail["volume_id"] for _kind, detail in news] == ["vol-1", "vol-2"]
    assert {kind for kind, _detail in news} == {"RecommendationNew"}
    assert {volume_id for _, _, volume_id in history.kept} == {"vol-1", "vol-2"}


def by_rule(history, rule):
    """The history as an earlier version left it, whose answers were by another rule."""
    for name, entry in list(history.kept.items()):
        history.kept[name] = replace(entry, rule=rule)


def test_what_changed_because_the_rule_did_is_one_count_and_no_news():
    history = Kept()
    old = [a_record("keep" if at else "migrate", volume_id=f"vol-{at}", created=MADE) for at in range(4)]
    run(history, *old)
    by_rule(history, FIRST_RULE)
    now = [a_record("detached" if at == 0 else "migrate", volume_id=f"vol-{at}", created=MADE) for at in range(4)]
    born = a_record(volume_id="vol-9", created=(MONDAY + timedelta(days=3)).isoformat())
    for _ in range(2):
        found, news = run(history, *now, born, week=1)
        assert (found.by_rule, found.new) == (4, 1)
        assert [detail["volume_id"] for _kind, detail in news] == ["vol-9"]
    later, _ = run(history, *now, born, week=2)
    assert (later.by_rule, later.new) == (0, 0)


def test_a_volume_that_was_changed_is_news_whatever_the_rule():
    history, first = Kept(), a_record("keep", created=MADE)
    run(history, a_record(created=MADE), first.model_copy(update={"volume_id": "vol-2"}))
    by_rule(history, FIRST_RULE)
    grown = first.current.model_copy(update={"size_gib": first.current.size_gib + 100})
    changed = a_record("detached", created=MADE, current=grown)
    found, _ = run(history, changed, week=1)
    assert (found.by_rule, found.new) == (0, 1)


def test_what_was_carried_out_is_told_with_what_it_saves_from_then_on():
    history, record = Kept(), a_record(monthly_usd_saved=36.55)
    run(history, record)
    told = [run(history, carried_out(record), week=week)[0].history() for week in (1, 2)]
    assert [one["done"] for one in told] == [1, 1]
    assert [one["done_now"] for one in told] == [1, 0]
    assert [one["saved_usd_month_since"] for one in told] == [36.55, 36.55]


def test_what_people_snoozed_is_counted_apart_and_is_news_once_the_time_has_run_out():
    history, record = Kept(), a_record()
    run(history, record)
    history.decided_of(record, DecisionKind.SNOOZE, 0, until=date(2027, 1, 12))
    told, news = run(history, record.model_copy(update={"action": "upgrade"}), week=1)
    assert (told.new, told.snoozed, news) == (0, 1, [])
    again = [run(history, record.model_copy(update={"action": "upgrade"}), week=week) for week in (2, 3)]
    assert [(one.new, one.snoozed, len(news)) for one, news in again] == [(1, 0, 1), (0, 0, 0)]


def test_a_word_that_it_is_done_is_checked_by_the_next_run():
    history, record = Kept(), a_record(monthly_usd_saved=36.55)
    other = a_record(volume_id="vol-other")
    run(history, record, other)
    for one in (record, other):
        history.decided_of(one, DecisionKind.DONE, 0)
    told, news = run(history, carried_out(record), other, week=1)
    assert (told.new, told.done_now) == (1, 1)
    assert [detail["volume_id"] for _kind, detail in news] == ["vol-other"]


def test_those_that_people_excluded_are_known_with_who_and_why_until_they_are_included_again():
    history, one, other = Kept(), a_record(volume_id="vol-1"), a_record(volume_id="vol-2")
    target = Target(account=one.account, region=one.region)
    history.decided_of(one, DecisionKind.EXCLUDE, 0, by="slack:T1/U1", reason="of the\nauditors " * 40)
    history.decided_of(other, DecisionKind.EXCLUDE, 0)
    left = excluded_volumes(history, target, ["vol-1", "vol-2", "vol-3"])
    assert left["vol-1"].startswith("excluded by slack:T1/U1: of the auditors of the")
    assert len(left["vol-1"]) < 150
    assert left["vol-2"] == "excluded by jo"
    history.decided_of(one, DecisionKind.INCLUDE, 1)
    assert set(excluded_volumes(history, target, ["vol-1", "vol-2", "vol-3"])) == {"vol-2"}


def test_a_target_is_read_at_once_and_a_run_told_twice_writes_nothing():
    history = Kept()
    records = [a_record(volume_id=f"vol-{n}", account=str(n % 2)) for n in range(6)]
    first = run(history, *records)
    assert (history.reads, len(history.written)) == (2, 6)
    assert run(history, *reversed(records)) == first
    assert len(history.written) == 6


def test_a_difference_of_two_runs_and_the_history_agree_on_what_is_done(tmp_path):
    moved = a_record()
    spec = moved.target
    drop_in = moved.drop_in.model_copy(update={"spec": spec.model_copy(update={"iops": 9000})})
    now = {
        "exactly": spec,
        "nearly": spec.model_copy(update={"iops": spec.iops + 300}),
        "larger": spec.model_copy(update={"size_gib": spec.size_gib + 100}),
        "drop-in": drop_in.spec,
        "too-much": spec.model_copy(update={"iops": 16_000}),
        "other-type": moved.current.model_copy(update={"type": "io2", "iops": 3000}),
        "same": moved.current,
    }
    before = [a_record(volume_id=name, drop_in=drop_in) for name in now]
    after = [a_record("keep", volume_id=name, current=found, target=found) for name, found in now.items()]
    history = Kept()
    run(history, *before)
    told, _ = run(history, *after, week=1)
    with compare_runs(a_run(tmp_path / "before", before), a_run(tmp_path / "after", after)) as diff:
        done = {one.volume_id for one in diff.list_volumes(DiffGroup.DONE)}
    assert done == {"exactly", "nearly", "larger", "drop-in"}
    assert told.done_now == len(done)
    assert {entry.volume_id for entry in history.kept.values() if entry.done_on is not None} == done


@given(fleets(), st.data())
def test_parts_add_up_to_the_whole_in_any_order_and_come_back_from_json(records, data):
    whole = run(Kept(), *records)
    parts = [run(Kept(), one) for one in records]
    totals, news = RunTotals(), empty_news()
    for part, events in data.draw(st.permutations(parts)):
        totals.merge(RunTotals.parse(json.loads(json.dumps(part.plain))))
        announce(news, json.loads(json.dumps(events)))
    assert totals.plain == whole[0].plain
    assert json.dumps(news.items) == json.dumps(whole[1])


def test_there_is_a_bound_to_news_and_what_saves_most_is_kept():
    part, news = run(Kept(), *(a_record(volume_id=f"vol-{n}", monthly_usd_saved=float(n)) for n in range(MOST_NEWS)))
    more, latest = run(Kept(), a_record(volume_id="vol-most", monthly_usd_saved=9_999.0))
    part.merge(more)
    both = empty_news()
    announce(both, [*news, *latest])
    assert part.new == MOST_NEWS + 1
    assert len(both.items) == MOST_NEWS
    assert both.items[0][1]["volume_id"] == "vol-most"
