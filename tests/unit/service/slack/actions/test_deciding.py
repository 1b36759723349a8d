"""What people say of volumes is kept once, with who said it, and told where everybody sees it."""

from datetime import date, timedelta

import pytest

from plimsoll.model.errors import AccessDenied
from tests.builders import NOW

from .asking import CHANNEL, MEMBER, NAME, PLACE, STRANGER, VOLUME, a_volume, a_workplace

HOSTILE = "<!channel> *bold* `code` <https://evil.example|here> &amp; @here\nsecond line"


@pytest.fixture
def workplace(tmp_path):
    with a_workplace(tmp_path) as found:
        yield found


def test_a_snooze_is_kept_with_who_and_why_and_told_in_the_thread(workplace):
    asked = workplace.ask("snooze", days="30", reason=HOSTILE)
    (decision,) = workplace.decisions().values()
    assert (decision.id, decision.by, decision.until, decision.at) == (
        asked.id,
        f"slack:{asked.team}/{MEMBER}",
        NOW.date() + timedelta(days=30),
        NOW,
    )
    assert decision.reason == HOSTILE
    (said,) = workplace.replies
    assert said.startswith(f"@{MEMBER} snoozed {VOLUME} ({PLACE}) until {decision.until}: <!channel> *bold* `code`")


@pytest.mark.parametrize(
    ("do", "words"),
    [
        ("done", "says that this change is made: vol-one"),
        ("exclude", "excluded this volume from audits: vol-one"),
    ],
)
def test_a_second_press_does_nothing_twice_and_says_who_was_first(do, words, workplace):
    workplace.slack.there.groups["S0STORAGE"].append(STRANGER)
    workplace.ask(do, request="the-button")
    workplace.service.clock.time += timedelta(hours=1)
    workplace.ask(do, user=STRANGER, request="the-button")
    workplace.slack.there.groups["S0STORAGE"].remove(STRANGER)
    (decision,) = workplace.decisions().values()
    assert decision.by.endswith(MEMBER)
    first, second = workplace.replies
    assert words in first
    assert f"by @{MEMBER}: nothing is done twice" in second
    assert f"{NOW:%Y-%m-%d %H:%M} UTC" in second


def test_an_exclusion_is_lifted_by_whoever_takes_the_volume_in_again(workplace):
    workplace.ask("exclude", reason="kept for its license")
    (message,) = workplace.slack.there.in_thread(workplace.thread)
    (row,) = [block for block in message.blocks if block["type"] == "actions"]
    assert (row["block_id"], [button["action_id"] for button in row["elements"]]) == (f"volume:{NAME}", ["include"])
    workplace.ask("include")
    workplace.ask("include")
    assert "included this volume in audits again" in workplace.replies[1]
    assert "Nobody has excluded" in workplace.replies[2]
    assert [one.kind.value for one in workplace.decisions().values()] == ["exclude", "include"]


def test_an_id_alone_is_searched_for_and_one_that_is_nowhere_is_said_so_to_the_asker(workplace):
    place, responses = workplace.typed()
    workplace.ask("snooze", days="7", volume=VOLUME, place=place)
    assert workplace.decisions()
    workplace.ask("include", volume="vol-nowhere", place=place)
    assert "there is no volume vol-nowhere in the accounts and regions of this service" in responses()[1]
    assert workplace.replies == []


def test_who_is_in_no_group_is_refused_politely_and_alone(workplace):
    for do, more in (("done", {}), ("explain", {}), ("savings", {}), ("validate", {}), ("audit", {})):
        workplace.ask(do, user=STRANGER, **more)
    assert workplace.decisions() == {}
    assert workplace.service.executions.begun == {}
    assert workplace.replies == []
    assert [one.user for one in workplace.slack.there.ephemerals] == [STRANGER] * 5
    assert all("Only members of certain user groups may use Plimsoll here" in said for said in workplace.quietly)


def test_where_slack_does_not_say_who_is_a_member_nothing_is_done_and_why_is_said(workplace):
    workplace.slack.scopes.discard("usergroups:read")
    with pytest.raises(Exception, match="usergroups:read"):
        workplace.ask("done")
    assert "add the scope usergroups:read to the app" in workplace.quietly[0]
    assert workplace.decisions() == {}


def test_the_members_of_a_group_are_asked_for_every_five_minutes(workplace):
    for minutes in (0, 4, 6):
        workplace.service.clock.time = NOW + timedelta(minutes=minutes)
        workplace.ask("done")
    assert len(workplace.slack.called("usergroups.users.list")) == 2


def test_a_group_that_is_gone_keeps_none_out_who_is_in_another(tmp_path):
    config = {"teams": ["T0PLIMSOLL"], "channel": CHANNEL, "user_groups": ["S0DELETED", "S0STORAGE"]}
    with a_workplace(tmp_path, slack=config) as workplace:
        workplace.ask("done")
        assert len(workplace.decisions()) == 1
        with pytest.raises(AccessDenied, match="user group S0DELETED: no_such_subteam"):
            workplace.ask("done", user=STRANGER)
        assert "correct user_groups in the service's configuration" in workplace.quietly[0]
        assert len(workplace.decisions()) == 1


def test_nobody_may_act_where_no_group_may(tmp_path):
    config = {"teams": ["T0PLIMSOLL"], "channel": CHANNEL}
    with a_workplace(tmp_path, slack=config) as workplace:
        workplace.ask("done")
        assert workplace.decisions() == {}
        assert "Only members of certain user groups" in workplace.quietly[0]


def test_another_workspace_may_not_act(tmp_path):
    config = {"teams": ["T0OTHER1"], "channel": CHANNEL, "user_groups": ["S0STORAGE"]}
    with a_workplace(tmp_path, slack=config) as workplace:
        workplace.ask("done")
        assert workplace.decisions() == {}


def test_an_organization_that_is_configured_by_its_own_id_may_act_from_any_of_its_workspaces(tmp_path):
    config = {"teams": ["E0PLIMSOLL"], "channel": CHANNEL, "user_groups": ["S0STORAGE"]}
    with a_workplace(tmp_path, slack=config) as workplace:
        place = {"channel": CHANNEL, "thread": workplace.thread}
        workplace.ask("done", place={**place, "enterprise": "E0OTHERS"})
        assert workplace.decisions() == {}
        workplace.ask("done", place={**place, "enterprise": "E0PLIMSOLL"})
        assert len(workplace.decisions()) == 1


def test_what_nobody_thought_of_is_raised_and_the_asker_is_told_where_to_look(workplace, monkeypatch):
    monkeypatch.setattr(type(workplace.service.history), "decide", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        workplace.ask("done")
    assert "The service's log says what, under the-request." in workplace.quietly[0]


def test_a_volume_that_was_never_seen_may_be_snoozed(tmp_path):
    with a_workplace(tmp_path, a_volume("vol-other")) as workplace:
        workplace.ask("snooze", days="7")
        (decision,) = workplace.decisions().values()
        assert decision.until == date(NOW.year, NOW.month, NOW.day) + timedelta(days=7)
