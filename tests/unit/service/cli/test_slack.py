"""`plimsoll slack` as it is called: what arrives in Slack, what is said here, and what is refused in a sentence."""

import json
import sys

import pytest

from plimsoll.cli.exit_codes import PARTIAL, UNUSABLE
from plimsoll.cli.main import main
from plimsoll.model.errors import BadInput
from plimsoll_service.slack.blocks.pictures import Draft
from tests.slack.server import UPLOAD, FakeSlack
from tests.slack.workspace import CHANNEL, ELSEWHERE, text_of
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

ONE, OTHER = "111122223333", "444455556666"
RECORDS = [
    a_record(volume_id="vol-1", account=ONE, name="ledger"),
    a_record(volume_id="vol-2", account=OTHER, name="<!channel> *orders* `db`"),
]
PLACES = (f"{ONE}/us-east-1", f"{OTHER}/us-east-1")


@pytest.fixture
def slack(monkeypatch):
    monkeypatch.setattr("plimsoll_service.slack.notifications.posting.PACE_S", 0)
    with FakeSlack(pace_s=0) as slack:
        monkeypatch.setenv("PLIMSOLL_SLACK_API_URL", slack.api_url)
        monkeypatch.setenv("PLIMSOLL_SLACK_BOT_TOKEN", slack.token)
        monkeypatch.setenv("PLIMSOLL_SLACK_WEBHOOK_URL", slack.webhook_url)
        yield slack


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", "runs")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("PLIMSOLL_SLACK_BOT_TOKEN", "PLIMSOLL_SLACK_WEBHOOK_URL", "PLIMSOLL_CAMPAIGNS_DIR"):
        monkeypatch.delenv(name, raising=False)
    return a_run(tmp_path / "runs" / "one", RECORDS, places=PLACES)


@pytest.fixture
def plimsoll(monkeypatch, capsys):
    """Calls `plimsoll slack`; gives its exit code and all that it said."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["plimsoll", "slack", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as exited:
            code = int(exited.code or 0)
        said = capsys.readouterr()
        return code, " ".join((said.out + said.err).split())

    return call


def test_a_run_is_posted_with_a_reply_for_each_account_and_its_pictures(run, slack, plimsoll):
    code, said = plimsoll("post", "--channel", CHANNEL)
    assert (code, said) == (0, f"posted to {CHANNEL}: the report, 2 replies in its thread and 2 pictures")
    (main_message,) = slack.there.in_channel()
    assert "can be saved" in main_message.text
    replies = slack.there.in_thread(main_message.ts)
    assert [one.metadata["event_payload"]["part"] for one in replies] == [f"reply/{ONE}", f"reply/{OTHER}"]
    files = list(slack.there.files.values())
    assert [file.name for file in files] == ["savings.png", "roofline.png"]
    assert all(file.data.startswith(b"\x89PNG") and file.thread_ts == main_message.ts for file in files)
    assert main_message.metadata["event_payload"]["run"] == "one"


def test_a_message_from_here_has_buttons_only_where_they_are_asked_for(run, slack, plimsoll):
    plimsoll("post", "--channel", CHANNEL, "--no-pictures")
    plimsoll("post", "--channel", CHANNEL, "--no-pictures", "--again", "--buttons")
    without, with_ = slack.there.in_channel()
    assert not [block for block in without.blocks if block["type"] == "actions"]
    assert [block["block_id"] for block in with_.blocks if block["type"] == "actions"]


def test_a_run_is_posted_to_a_channel_once_unless_again_is_said(run, slack, plimsoll):
    slack.there.channels["C0OTHERS"] = "others"
    post = ("post", "--no-pictures", "--channel")
    assert plimsoll(*post, CHANNEL)[0] == 0
    code, said = plimsoll(*post, CHANNEL)
    assert (code, said) == (0, f"this run stands in {CHANNEL} already; --again posts it once more, beside what stands")
    assert len(slack.there.in_channel()) == 1
    plimsoll(*post, "C0OTHERS")
    plimsoll(*post, CHANNEL, "--again")
    assert [len(slack.there.in_channel(channel)) for channel in ("C0OTHERS", CHANNEL)] == [1, 2]


def test_what_stands_is_not_forgotten_before_all_is_drawn_that_is_posted_again(run, slack, plimsoll, monkeypatch):
    def refused(_draft):
        raise BadInput("cannot be drawn")

    plimsoll("post", "--channel", CHANNEL)
    monkeypatch.setattr(Draft, "png", refused)
    assert plimsoll("post", "--channel", CHANNEL, "--again")[0] == UNUSABLE
    assert "stands in" in plimsoll("post", "--channel", CHANNEL)[1]
    assert len(slack.there.in_channel()) == 1


def test_what_was_posted_in_part_is_gone_on_with(run, slack, plimsoll):
    slack.fail("chat.postMessage", skip=2, error="is_archived")
    code, said = plimsoll("post", "--channel", CHANNEL, "--no-pictures")
    assert code == PARTIAL
    assert "is_archived: the channel is archived" in said
    assert plimsoll("post", "--channel", CHANNEL, "--no-pictures")[0] == 0
    (main_message,) = slack.there.in_channel()
    assert len(slack.there.in_thread(main_message.ts)) == 2


def test_a_part_of_a_run_is_another_report(run, slack, plimsoll):
    plimsoll("post", "--channel", CHANNEL, "--no-pictures")
    where = f"account = '{ONE}'"
    assert plimsoll("post", "--channel", CHANNEL, "--no-pictures", "--where", where)[0] == 0
    _, part = slack.there.in_channel()
    assert "ledger" in text_of(part.json)
    assert "orders" not in text_of(part.json)


def test_pictures_that_failed_are_tried_again_by_the_same_command(run, slack, plimsoll):
    slack.fail(UPLOAD, status=500)
    assert plimsoll("post", "--channel", CHANNEL)[0] == PARTIAL
    code, said = plimsoll("post", "--channel", CHANNEL)
    assert (code, said) == (0, f"posted to {CHANNEL}: the report, 2 replies in its thread and 2 pictures")
    assert sorted(file.name for file in slack.there.files.values() if file.channel) == ["roofline.png", "savings.png"]
    assert len(slack.there.in_channel()) == 1


def test_pictures_that_cannot_be_shown_are_told_and_the_report_stands(run, slack, plimsoll):
    slack.fail(UPLOAD, status=500, times=10)
    code, said = plimsoll("post", "--channel", CHANNEL)
    assert code == PARTIAL
    assert f"posted to {CHANNEL}: the report, 2 replies in its thread and 0 pictures" in said
    assert "savings.png" in said
    assert "roofline.png" in said


def test_damaged_profiles_cost_the_pictures_alone(run, slack, plimsoll):
    (run / "demand.jsonl").write_text("{}\n", encoding="utf-8")
    code, said = plimsoll("post", "--channel", CHANNEL)
    assert code == PARTIAL
    assert "no picture is shown" in said
    assert len(slack.there.in_channel()) == 1


def test_what_was_saved_since_an_earlier_run_is_told(run, slack, plimsoll, tmp_path):
    done = {"action": "keep", "current": RECORDS[0].target, "monthly_usd_now": RECORDS[0].monthly_usd_then}
    after = [RECORDS[0].model_copy(update={**done, "monthly_usd_saved": 0.0}), RECORDS[1]]
    a_run(tmp_path / "runs" / "two", after, places=PLACES, now="2027-01-22T08:00:00+00:00")
    code, said = plimsoll("post", "runs/two", "--since", run, "--channel", CHANNEL, "--no-pictures")
    assert (code, said[:6]) == (0, "posted")
    (main_message,) = slack.there.in_channel()
    assert "a month saved by 1 volume done since" in text_of(main_message.json)
    assert "Compared with the run of 2027-01-15: " in text_of(main_message.json)


def test_a_webhook_gets_the_main_message_alone_and_once(run, slack, plimsoll):
    code, said = plimsoll("post", "--webhook")
    assert code == 0
    assert "a webhook takes no replies, pictures or buttons" in said
    assert "stands in webhook-B0HOOK already" in plimsoll("post", "--webhook")[1]
    (hooked,) = slack.there.hooked
    assert not [block for block in hooked["blocks"] if block["type"] == "actions"]


def test_a_webhooks_message_and_its_dry_run_know_of_no_thread(run, slack, plimsoll, tmp_path):
    many = [a_record(volume_id=f"vol-{number}", account=ONE) for number in range(12)]
    a_run(tmp_path / "runs" / "many", many, places=PLACES)
    assert plimsoll("post", "runs/many", "--webhook")[0] == 0
    (hooked,) = slack.there.hooked
    assert "they are in the report" in text_of(hooked)
    assert "thread" not in text_of(hooked)
    code, said = plimsoll("post", "runs/many", "--webhook", "--dry-run")
    assert (code, "in its thread" in said) == (0, False)
    assert "reply in its thread" in plimsoll("post", "runs/many", "--dry-run")[1]


def test_a_dry_run_shows_the_messages_and_needs_nothing(run, plimsoll):
    code, said = plimsoll("post", "--dry-run")
    assert code == 0
    for part in ("can be saved", "ledger", f"reply in its thread: {ONE}", "savings.png", "nothing was sent"):
        assert part in said
    assert not (run / "slack-posted.json").exists()


@pytest.mark.parametrize("columns", ["40", "80", "160"])
def test_a_dry_run_fits_the_screen(run, plimsoll, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "argv", ["plimsoll", "slack", "post", "--dry-run", "--no-pictures"])
    with pytest.raises(SystemExit):
        main()
    framed = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("│")]
    assert framed
    assert {len(line.rstrip()) for line in framed} <= set(range(int(columns) + 1))


def test_names_are_names_in_what_is_sent(run, slack, plimsoll):
    plimsoll("post", "--channel", CHANNEL, "--no-pictures")
    sent = json.dumps([[one.text, one.blocks] for one in slack.there.messages])
    assert "<!channel>" not in "".join(one.text for one in slack.there.messages)
    assert '"mrkdwn"' not in sent


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("post",), "say where to"),
        (("post", "--channel", "#storage"), "give the channel's id"),
        (("post", "--channel", "#storage", "--dry-run"), "give the channel's id"),
        (("post", "--channel", CHANNEL), "PLIMSOLL_SLACK_BOT_TOKEN"),
        (("post", "--webhook"), "PLIMSOLL_SLACK_WEBHOOK_URL"),
        (("post", "--webhook", "--channel", CHANNEL), "leave out --channel"),
        (("post", "--webhook", "--buttons"), "leave out"),
        (("post", "--channel", CHANNEL, "--since", "runs/one", "--where", "true"), "one of the two"),
        (("post", "--dry-run", "--where", "nonsense"), "nonsense"),
        (("post", "nowhere", "--dry-run"), "nowhere holds no run.json"),
        (("post", "--dry-run", "--since", "nowhere"), "nowhere holds no run.json"),
    ],
)
def test_what_cannot_be_posted_is_refused_with_what_to_do(run, plimsoll, words, told):
    code, said = plimsoll(*words)
    assert code == UNUSABLE
    assert told in said


def test_a_channel_without_the_app_is_told_how_to_invite_it(run, slack, plimsoll):
    code, said = plimsoll("post", "--channel", ELSEWHERE, "--no-pictures")
    assert code == PARTIAL
    assert "/invite @plimsoll" in said


def test_no_secret_is_told_whatever_slack_says(run, slack, plimsoll, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_SLACK_BOT_TOKEN", "xoxb-a-wrong-secret")
    monkeypatch.setenv("PLIMSOLL_SLACK_WEBHOOK_URL", slack.webhook_url + "-a-wrong-secret")
    for words in (("--channel", CHANNEL), ("--webhook",)):
        code, said = plimsoll("post", "--no-pictures", *words)
        assert code == PARTIAL
        assert "wrong-secret" not in said
    assert "wrong-secret" not in (run / "slack-posted.json").read_text(encoding="utf-8")


def test_a_damaged_ledger_is_told(run, slack, plimsoll):
    (run / "slack-posted.json").write_text('{"channels": 1}', encoding="utf-8")
    code, said = plimsoll("post", "--channel", CHANNEL, "--no-pictures")
    assert code == UNUSABLE
    assert "slack-posted.json is damaged" in said
    assert not slack.there.messages


def test_the_apps_manifest_is_printed(run, plimsoll):
    code, said = plimsoll("manifest", "https://abc.lambda-url.eu-west-1.on.aws/")
    assert code == 0
    assert "https://abc.lambda-url.eu-west-1.on.aws/" in said
