"""Audits and measurements are begun once for each request, and who asked is known to whoever ends them."""

from dataclasses import replace

from plimsoll_google.names import UNPROBED
from plimsoll_service.slack.actions.asked import SlackRequest
from tests.unit.service.projects import THERE, both, disks

from .asking import CHANNEL, MEMBER, NAME, VOLUME, a_workplace


def test_a_measurement_is_begun_with_who_asked_kept_for_the_answer(tmp_path):
    with a_workplace(tmp_path) as workplace:
        asked = workplace.ask("validate")
        execution = f"slack-{asked.id}"
        assert workplace.begun("validation") == {execution: {"volume_id": NAME}}
        assert SlackRequest.model_validate(workplace.stored(f"slack/asked/{execution}.json")) == asked
        (decision,) = workplace.decisions().values()
        assert (decision.kind.value, decision.by) == ("validate", f"slack:{asked.team}/{MEMBER}")
        (said,) = workplace.replies
        assert said.startswith(f"@{MEMBER} asked for a measurement of {VOLUME}")
        assert "about 21 minutes and costs at most $5.00. The result comes here." in said


def test_a_second_press_begins_nothing_and_leaves_the_answer_where_it_was(tmp_path):
    with a_workplace(tmp_path) as workplace:
        workplace.slack.there.groups["S0STORAGE"].append("U0BOB")
        first = workplace.ask("validate", request="the-button")
        workplace.ask("validate", request="the-button", user="U0BOB")
        assert len(workplace.begun("validation")) == 1
        assert workplace.stored("slack/asked/slack-the-button.json")["user"] == first.user
        assert f"by @{MEMBER}: nothing is done twice" in workplace.replies[1]
        assert f"/plimsoll validate {NAME} measures again" in workplace.replies[1]


def test_what_an_attempt_that_broke_off_has_begun_is_gone_on_with(tmp_path):
    with a_workplace(tmp_path) as workplace:
        assert workplace.service.executions.begin("validation", "slack-the-button", {"volume_id": NAME})
        workplace.ask("validate", request="the-button")
        assert len(workplace.begun("validation")) == 1
        assert "asked for a measurement" in workplace.replies[0]


def test_a_typed_measurement_gets_a_thread_for_its_answer_and_keeps_no_secret(tmp_path):
    with a_workplace(tmp_path) as workplace:
        place, _responses = workplace.typed()
        workplace.ask("validate", volume=VOLUME, request="typed", place=place)
        (_report, message) = workplace.slack.there.in_channel(CHANNEL)
        kept = workplace.stored("slack/asked/slack-typed.json")
        assert (kept["channel"], kept["thread"], kept["response_url"]) == (CHANNEL, message.ts, None)
        assert b"response-secret" not in workplace.service.store.get("slack/asked/slack-typed.json")


def test_where_the_app_is_not_in_the_channel_the_answer_comes_to_the_services_own(tmp_path):
    with a_workplace(tmp_path) as workplace:
        place, responses = workplace.typed()
        workplace.ask("validate", volume=VOLUME, request="typed", place={**place, "channel": "C0ELSEWHERE"})
        kept = workplace.stored("slack/asked/slack-typed.json")
        assert kept["channel"] == CHANNEL
        assert kept["thread"] == workplace.slack.there.in_channel(CHANNEL)[1].ts
        assert f"@{CHANNEL}" in responses()[0]


def test_where_no_channel_can_be_told_the_asker_hears_that_it_is_begun_all_the_same(tmp_path):
    with a_workplace(tmp_path) as workplace:
        place, responses = workplace.typed()
        workplace.slack.fail("chat.postMessage", error="is_archived")
        workplace.ask("validate", volume=VOLUME, request="typed", place=place)
        assert workplace.begun("validation") == {"slack-typed": {"volume_id": NAME}}
        (said,) = responses()
        assert said.startswith("The measurement has begun. Only you will get its result")
        assert "the channel is archived: choose another" in said
        kept = workplace.stored("slack/asked/slack-typed.json")
        assert (kept["user"], kept["thread"]) == (MEMBER, None)


def test_a_service_without_validation_says_so(tmp_path):
    with a_workplace(tmp_path) as workplace:
        workplace.service.executions.kinds = ("audit",)
        workplace.ask("validate")
        assert workplace.quietly == ["this service has no validation: deploy it without with_validation=false."]
        assert workplace.decisions() == {}


def test_a_probe_is_begun_once_for_a_request_and_says_when_to_look(tmp_path):
    with a_workplace(tmp_path) as workplace:
        for _ in range(2):
            asked = workplace.ask("probe", request="the-line")
        assert workplace.begun("probe") == {f"slack-{asked.id}": {"volume_ids": [NAME]}}
        assert workplace.replies[0].startswith(f"@{MEMBER} asked for a probe of {VOLUME}")


def test_a_service_without_probes_says_so_and_so_does_google_cloud(tmp_path):
    with a_workplace(tmp_path) as workplace:
        workplace.service.executions.kinds = ("audit",)
        workplace.ask("probe")
        assert workplace.quietly == ["this service has no probe: deploy it with with_probe=true."]
    (disk,) = disks(1)
    with a_workplace(tmp_path / "google") as workplace:
        workplace.service = replace(workplace.service, places=both())
        workplace.ask("probe", volume=f"{THERE}/{disk.id}")
        assert workplace.begun("probe") == {}
        assert workplace.quietly == [UNPROBED]


def test_an_audit_is_begun_once(tmp_path):
    with a_workplace(tmp_path) as workplace:
        place, responses = workplace.typed()
        for _ in range(2):
            workplace.ask("audit", request="typed", place=place)
        assert workplace.begun("audit") == {"slack-typed": {}}
        assert [said.split(".")[0] for said in responses()] == [
            f"@{MEMBER} began an audit",
            f"@{MEMBER} asked for this audit before; it was begun",
        ]
        assert "this one waits until that has ended" in responses()[0]


def test_an_audit_that_stops_beside_another_is_said_to(tmp_path):
    with a_workplace(tmp_path, when_busy="stop") as workplace:
        workplace.ask("audit")
        assert (
            "If another audit is under way, this one stops, and only the other's report comes." in workplace.replies[0]
        )
