"""Posting: everything stands once, in its thread, in order and in pace, whatever happens to the connection."""

import pytest
from slack_sdk import WebClient

from plimsoll.model.errors import AccessDenied, Throttled, Unanswered, Unreachable
from plimsoll_service.slack.client import slack_client
from plimsoll_service.slack.notifications.posting import (
    POSTED,
    FileLedger,
    PngPicture,
    Posted,
    Posting,
    PostingProgress,
)
from tests.slack.server import UPLOAD, FakeSlack
from tests.slack.workspace import CHANNEL, ELSEWHERE, VirtualClock
from tests.unit.service.slack.notifications.conversations import KeptInMemory, a_conversation

ONE, OTHER, THIRD = "111122223333", "444455556666", "777788889999"
SAVINGS = PngPicture(name="savings.png", title="Savings by account", png=b"\x89PNG savings")


class Sender:
    """Posts to a Slack in time that passes by waiting alone."""

    def __init__(self, slack: FakeSlack, clock: VirtualClock) -> None:
        self.slack, self.clock, self.ledger = slack, clock, KeptInMemory()
        self.client: WebClient = slack_client(slack.token, api_url=slack.api_url, timeout_s=1, pause=clock.pause)

    def post(self, *accounts: str, channel: str = CHANNEL, pictures: tuple[PngPicture, ...] = ()) -> Posted:
        posting = Posting(
            channel=channel,
            client=self.client,
            ledger=self.ledger,
            run_id="run-1",
            pause=self.clock.pause,
            now=self.clock.now,
        )
        return posting.post(a_conversation(*accounts), pictures)

    @property
    def threads(self) -> list[list[str]]:
        """The texts that stand: of each main message and its replies."""
        there = self.slack.there
        return [[main.text, *(one.text for one in there.in_thread(main.ts))] for main in there.in_channel()]


@pytest.fixture
def sender():
    clock = VirtualClock()
    with FakeSlack(now=clock.now, burst=1) as slack:
        yield Sender(slack, clock)


def test_a_report_stands_with_its_replies_and_pictures_in_its_thread(sender):
    posted = sender.post(ONE, OTHER, pictures=(SAVINGS,))
    (thread,) = sender.threads
    assert thread[1:] == [ONE, OTHER]
    assert posted == Posted(channel=CHANNEL, ts=sender.slack.there.in_channel()[0].ts)
    (file,) = sender.slack.there.files.values()
    assert (file.data, file.title, file.alt_text) == (SAVINGS.png, SAVINGS.title, SAVINGS.title)
    assert (file.channel, file.thread_ts) == (CHANNEL, posted.ts)


def test_messages_keep_the_pace_of_a_channel_by_themselves(sender):
    sender.post(ONE, OTHER, THIRD)
    assert not [call for call in sender.slack.calls if call.error]
    assert sender.clock.paused_s == pytest.approx(3, abs=0.1)


def test_a_message_says_which_run_and_part_it_is(sender):
    sender.post(ONE)
    assert [one.metadata["event_payload"] for one in sender.slack.there.messages] == [
        {"run": "run-1", "part": "main"},
        {"run": "run-1", "part": f"reply/{ONE}"},
    ]


def test_posting_again_posts_nothing(sender):
    first = sender.post(ONE, pictures=(SAVINGS,))
    calls = len(sender.slack.calls)
    assert sender.post(ONE, pictures=(SAVINGS,)) == first
    assert len(sender.slack.calls) == calls


def test_what_slack_asks_to_wait_for_is_waited_for(sender):
    sender.slack.fail("chat.postMessage", retry_after_s=30)
    sender.post()
    assert len(sender.threads) == 1
    assert 30 <= sender.clock.paused_s < 34


def test_a_slack_that_wants_silence_for_long_is_left_alone_and_gone_on_with_later(sender):
    sender.slack.fail("chat.postMessage", skip=2, retry_after_s=3600)
    with pytest.raises(Throttled, match="3600 more seconds"):
        sender.post(ONE, OTHER)
    sender.post(ONE, OTHER)
    assert [thread[1:] for thread in sender.threads] == [[ONE, OTHER]]


@pytest.mark.parametrize(
    "trouble",
    [{"drop": "after"}, {"status": 500}, {"status": 503}, {"error": "internal_error"}, {"slow_s": 1.5}],
    ids=str,
)
def test_a_report_whose_answer_is_lost_is_never_sent_twice(sender, trouble):
    sender.slack.fail("chat.postMessage", **trouble)
    for _ in range(2):
        with pytest.raises(Unanswered, match=r"not known whether the report arrived in C0STORAGE.*--again"):
            sender.post(ONE)
    assert sender.slack.asked["chat.postMessage"] == 1


def test_a_reply_whose_answer_is_lost_is_told_and_the_others_are_posted(sender):
    sender.slack.fail("chat.postMessage", skip=1, drop="after")
    told = [sender.post(ONE, OTHER).troubles for _ in range(2)]
    assert [thread[1:] for thread in sender.threads] == [[ONE, OTHER]]
    assert all(f"the reply on {ONE} arrived" in troubles[0] for troubles in told)


def test_a_process_that_ends_while_it_sends_sends_that_message_not_again(sender):
    kept = iter([None, None, None, KeyboardInterrupt])

    class Dies(KeptInMemory):
        def keep(self, progress: PostingProgress) -> None:
            if next(kept, None) is not None:
                raise KeyboardInterrupt
            super().keep(progress)

    sender.ledger = Dies()
    with pytest.raises(KeyboardInterrupt):
        sender.post(ONE, OTHER)
    posted = sender.post(ONE, OTHER)
    assert [thread[1:] for thread in sender.threads] == [[ONE, OTHER]]
    assert f"the reply on {ONE}" in posted.troubles[0]


def test_a_refused_reply_leaves_the_others(sender):
    sender.slack.fail("chat.postMessage", skip=1, error="invalid_blocks")
    posted = sender.post(ONE, OTHER)
    assert [thread[1:] for thread in sender.threads] == [[OTHER]]
    (told,) = posted.troubles
    assert "invalid_blocks" in told
    assert sender.post(ONE, OTHER).troubles == ()
    assert [thread[1:] for thread in sender.threads] == [[OTHER, ONE]]


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", UPLOAD, "files.completeUploadExternal"])
def test_a_picture_that_cannot_be_shown_leaves_the_report_and_is_told(sender, method):
    sender.slack.fail(method, status=500, times=10)
    posted = sender.post(ONE, pictures=(SAVINGS,))
    assert [thread[1:] for thread in sender.threads] == [[ONE]]
    (told,) = posted.troubles
    assert "savings.png" in told


def test_a_picture_that_failed_is_tried_again_with_the_next_call(sender):
    sender.slack.fail(UPLOAD, status=500)
    sender.post(pictures=(SAVINGS,))
    assert sender.post(pictures=(SAVINGS,)).troubles == ()
    assert len(sender.threads) == 1
    assert [file.data for file in sender.slack.there.files.values() if file.channel] == [SAVINGS.png]


def test_an_app_that_may_show_no_files_is_told_the_scope(sender):
    sender.slack.scopes.remove("files:write")
    (told,) = sender.post(pictures=(SAVINGS,)).troubles
    assert "missing_scope" in told
    assert "files:write" in told


@pytest.mark.parametrize(("channel", "remedy"), [(ELSEWHERE, "/invite @plimsoll"), ("C0NOWHERE", "no such channel")])
def test_a_channel_that_cannot_be_posted_to_is_told_with_its_remedy_and_tried_anew(sender, channel, remedy):
    with pytest.raises(AccessDenied, match=remedy):
        sender.post(channel=channel)
    sender.slack.there.channels[channel] = "now a member"
    assert sender.post(channel=channel).channel == channel


def test_what_could_not_be_sent_at_all_is_sent_again_later(sender):
    closed = slack_client("xoxb-0", api_url="http://127.0.0.1:9/api/", pause=sender.clock.pause)
    open_, sender.client = sender.client, closed
    with pytest.raises(Unreachable, match="cannot reach Slack") as caught:
        sender.post(ONE)
    assert not isinstance(caught.value, Unanswered)
    sender.client = open_
    sender.post(ONE)
    assert [thread[1:] for thread in sender.threads] == [[ONE]]


def test_the_file_ledger_keeps_every_channels_progress_apart(tmp_path):
    path = tmp_path / "slack.json"
    one, other = (FileLedger(path=path, channel=channel) for channel in (CHANNEL, ELSEWHERE))
    one.keep(PostingProgress(channel=CHANNEL, posted={"main": "1.1"}))
    other.keep(PostingProgress(sending="main"))
    assert one.load() == PostingProgress(channel=CHANNEL, posted={"main": "1.1"})
    assert other.load() == PostingProgress(sending="main")


def test_the_file_ledger_knows_a_channel_that_has_the_report_of_another_run(tmp_path):
    for run in ("monday", "tuesday"):
        (tmp_path / run).mkdir()
    first = FileLedger(path=tmp_path / "monday" / POSTED, channel=CHANNEL)
    first.keep(PostingProgress(posted={"main": "1.1"}))
    assert first.is_first
    assert not FileLedger(path=tmp_path / "tuesday" / POSTED, channel=CHANNEL).is_first
    assert FileLedger(path=tmp_path / "tuesday" / POSTED, channel=ELSEWHERE).is_first
