"""Plans: frozen with a digest; altered, expired, unapproved or approved by a stranger they do nothing."""

import json
import re
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.errors import BadInput
from plimsoll.ports import Target
from plimsoll.settings import Settings
from plimsoll.yaml_text import parse_yaml
from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind
from plimsoll_change.opening import find_plan, open_store
from plimsoll_change.people import check_approver
from plimsoll_change.plan import has_way_back_in_a_day, hours_until_back, slots_of
from plimsoll_change.plan_files import PLAN_FILE, keep_plan, load_rules, parse_rules, read_plan
from plimsoll_change.progress import Progress
from plimsoll_change.rules import ChangeRules, ChangeWindow, Freeze, SlotRule
from plimsoll_change.shown import plan_markdown
from tests.builders import a_spec
from tests.profiles import examples
from tests.unit.change.memory import NOW, a_line, a_plan

HOUR = timedelta(hours=1)


def approved(plan, *people, **fields):
    return [Fact(kind=FactKind.APPROVED, by=name, at=NOW, digest=plan.digest, **fields) for name in people or ("ada",)]


def find_refusal(plan, approvals, now):
    return Progress(plan=plan, rows={PLAN_ROW: tuple(approvals)}).find_halt(now)


def a_file(folder, plan):
    """A plan in its file, and the settings of a machine that has it."""
    settings = Settings(runs_dir=folder)
    frozen = keep_plan(open_store(settings), plan)
    return frozen, folder / "changes" / frozen.id / PLAN_FILE, settings


def test_a_plan_is_read_as_it_was_written(tmp_path):
    frozen, path, settings = a_file(tmp_path, a_plan(digest=""))
    for word in (None, frozen.id, str(path), str(path.parent)):
        assert find_plan(word, settings) == frozen
    assert read_plan(FolderStore(path.parent.parent), frozen.id) == frozen


def test_a_plan_is_never_written_over(tmp_path):
    a_file(tmp_path, a_plan())
    with pytest.raises(BadInput, match="never written over"):
        a_file(tmp_path, a_plan())


@pytest.mark.parametrize(
    ("key", "value"),
    [("expires", "2099-01-01T00:00:00Z"), ("id", "other"), ("rules", {}), ("lines", []), ("digest", "0" * 64)],
)
def test_a_plan_that_was_altered_is_refused(tmp_path, key, value):
    _, path, settings = a_file(tmp_path, a_plan())
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(BadInput, match="altered"):
        find_plan(None, settings)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 99}'])
def test_a_file_that_is_no_plan_is_refused(tmp_path, text):
    _, path, settings = a_file(tmp_path, a_plan())
    path.write_text(text)
    with pytest.raises(BadInput, match="plan"):
        find_plan(None, settings)


def test_there_is_no_plan_before_one_was_made(tmp_path):
    with pytest.raises(BadInput, match="change plan RUN makes one"):
        find_plan(None, Settings(runs_dir=tmp_path))


def test_a_plan_needs_an_approval_of_its_own_digest_before_it_expires():
    plan = a_plan()
    assert find_refusal(plan, approved(plan), NOW) is None
    assert "nobody" in find_refusal(plan, [], NOW)
    assert "nobody" in find_refusal(plan, [replace(approved(plan)[0], digest="other")], NOW)
    assert "expired" in find_refusal(plan, approved(plan), NOW + timedelta(days=14))


def test_only_approvers_that_the_rules_name_count():
    plan = a_plan(rules=ChangeRules(approvers=("ada", "grace")))
    assert find_refusal(plan, approved(plan, "ada"), NOW) is None
    assert "nobody" in find_refusal(plan, approved(plan, "mallory"), NOW)
    for name, named in (("mallory", "ada, grace"), (" ", "--by")):
        with pytest.raises(BadInput, match=named):
            check_approver(plan, name)
    check_approver(plan, "grace")


def test_above_an_amount_two_people_approve():
    plan = a_plan(rules=ChangeRules(two_people_above_usd_month=100))
    assert "another is needed" in find_refusal(plan, approved(plan, "ada", "ada"), NOW)
    assert find_refusal(plan, approved(plan, "ada", "grace"), NOW) is None


def test_a_late_way_back_is_accepted_or_nothing_is_done():
    large = a_spec("gp3", 4096, iops=4000, throughput_mib_s=250)
    plan = a_plan(a_line(then=large, now=a_spec("io1", 4096, iops=5000)))
    assert hours_until_back(plan.lines[0], plan.rules) == 24
    assert "--accept-late-back" in find_refusal(plan, approved(plan), NOW)
    assert find_refusal(plan, approved(plan, accepts_late_back=True), NOW) is None
    assert "No way back within a day" in plan_markdown(plan)


def test_two_changes_a_day_leave_a_way_back():
    assert has_way_back_in_a_day(a_line(), ChangeRules())
    assert has_way_back_in_a_day(a_line(), ChangeRules(slots=SlotRule(most=1, hours=6)))
    assert not has_way_back_in_a_day(a_line(), ChangeRules(slots=SlotRule(most=1, hours=24)))


def test_a_hyperdisk_goes_back_once_its_only_slot_is_free_again():
    disk = a_line(target=Target(account="plimsoll-shop", region="us-central1", provider="google"))
    assert (disk.optimizing_h, hours_until_back(disk, ChangeRules())) == (0, 4)
    assert has_way_back_in_a_day(disk, ChangeRules())
    owners = ChangeRules(slots=SlotRule(most=2, hours=48))
    assert slots_of(disk, owners) == (SlotRule(most=1, hours=4), owners.slots)
    assert hours_until_back(disk, owners) == 4
    assert not has_way_back_in_a_day(disk, owners)
    assert hours_until_back(disk, ChangeRules(slots=SlotRule(most=1, hours=6))) == 6


def test_the_page_of_a_plan_says_what_a_board_signs():
    plan = a_plan(*(a_line(number) for number in range(1, 6)))
    page = plan_markdown(plan)
    for text in (plan.digest, "vol-0003", "canary", "io1 500 GiB 5,000 IOPS", "# back:", "$350"):
        assert text in page


@given(starts=st.lists(st.integers(0, 48 * 60), max_size=8), most=st.integers(1, 5), hours=st.integers(1, 24))
@settings(max_examples=examples(300))
def test_slots_are_never_exceeded_and_one_is_kept(starts, most, hours):
    rule, times = SlotRule(most=most, hours=hours), [NOW + timedelta(minutes=minute) for minute in starts]
    for is_back, kept in ((True, 0), (False, 1 if most > 1 else 0)):
        at = rule.find_next(times, is_back=is_back)
        used = [time for time in times if at is not None and time > at - hours * HOUR]
        if at is not None:
            assert len(used) < most - kept
            before = [time for time in times if time > at - timedelta(minutes=1) - hours * HOUR]
            assert len(before) >= most - kept
        else:
            assert len(times) < most - kept


def test_windows_end_on_the_next_day():
    window = ChangeWindow(days=("fri",), from_hour=22, to_hour=4)
    friday = datetime(2026, 11, 6, 23, tzinfo=UTC)
    assert [window.is_open(friday + hours * HOUR) for hours in (-2, 0, 4, 5)] == [False, True, True, False]


def test_rules_come_from_a_file(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(
        "windows: [{days: [mon, tue], from_hour: 1, to_hour: 5}]\n"
        "freezes: [{first: 2026-12-20, last: 2027-01-04, reason: holidays}]\n"
        "slots: {most: 1, hours: 6}\napprovers: [ada]\n"
    )
    rules = load_rules(path)
    assert rules.freezes == (Freeze(first=date(2026, 12, 20), last=date(2027, 1, 4), reason="holidays"),)
    assert "holidays" in rules.find_hindrance(datetime(2026, 12, 24, 3, tzinfo=UTC))
    assert "windows" in rules.find_hindrance(datetime(2026, 11, 4, 3, tzinfo=UTC))
    assert rules.find_hindrance(datetime(2026, 11, 3, 3, tzinfo=UTC)) is None
    assert load_rules(None) == ChangeRules()


def test_the_rules_of_the_guide_are_such_and_name_every_key():
    guide = (Path(__file__).parents[3] / "docs" / "change.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    plain = parse_yaml(text)
    assert set(plain) == {field.name for field in fields(ChangeRules)}
    assert parse_rules(plain, "the guide").slots == SlotRule(most=1, hours=6)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("windws: []", "windws"),
        ("slots: {most: 0}", "slots"),
        ("windows: [{days: [someday]}]", "someday"),
        ("windows: [{from_hour: 25}]", "25"),
        ("most_volumes_an_hour: 0", "most_volumes_an_hour"),
        ("{", "YAML"),
    ],
)
def test_rules_that_cannot_be_used_are_refused_by_name(tmp_path, text, named):
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=named):
        load_rules(path)
