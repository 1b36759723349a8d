"""The worker: who may act is checked, the action is carried out on the service, and the asker is answered."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from pydantic import ConfigDict, field_validator
from slack_sdk import WebClient

from plimsoll.auditing.explain import explain_volume
from plimsoll.model.errors import BadInput, CloudError, PlimsollError, Unexpected
from plimsoll.outcomes import Answered, FailedVolume, Skipped
from plimsoll.reports.answers import record_of
from plimsoll.reports.run_files import PAGE, RUN
from plimsoll.reports.run_record import run_of
from plimsoll.reports.story.volume import tell_volume
from plimsoll.service.history_update import excluded_volumes
from plimsoll.service.latest_report import latest_report
from plimsoll.service.needed import require_content
from plimsoll.service.probing import StoredProbes
from plimsoll.service.service import Service
from plimsoll.service.step_messages import StepMessage as ServiceMessage
from plimsoll.service.store_keys import RunKeys
from plimsoll.service.target_ports import find_place, ports_at
from plimsoll.slack.actions.action import ActionContext, VolumeExplanation
from plimsoll.slack.actions.answers import SlackAnswers, plain_message
from plimsoll.slack.actions.asked import SlackRequest
from plimsoll.slack.actions.registry import ACTIONS
from plimsoll.slack.blocks.message import SlackMessage
from plimsoll.slack.blocks.report import savings_message
from plimsoll.slack.blocks.story import story_blocks
from plimsoll.slack.client import slack_errors
from plimsoll.validation.fio_job import canary_seconds

REFUSED: Final = (
    "Only members of certain user groups may use Plimsoll here, and you are in none of them. Ask whoever runs Plimsoll "
    "to add you: that takes effect within five minutes."
)

BELIEVED: Final = timedelta(minutes=5)
"""The time for which the members of a group are believed before Slack is asked again."""


@dataclass(frozen=True, slots=True)
class Members:
    """The members of user groups, each group as it was within the last minutes."""

    _known: dict[str, tuple[datetime, frozenset[str]]] = field(default_factory=dict)

    def may_act(self, user: str, groups: Iterable[str], slack: WebClient, now: datetime) -> bool:
        """True if somebody is in one of the groups. Raises CloudError if Slack does not list one, unless another has
        them."""
        trouble: CloudError | None = None
        for group in groups:
            try:
                if user in self._members_of(group, slack, now):
                    return True
            except CloudError as error:
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        return False

    def _members_of(self, group: str, slack: WebClient, now: datetime) -> frozenset[str]:
        read, members = self._known.get(group, (None, frozenset[str]()))
        if read is None or now - read >= BELIEVED:
            with slack_errors(f"list the members of the user group {group}"):
                members = frozenset(slack.usergroups_users_list(usergroup=group)["users"])
            self._known[group] = now, members
        return members


class AskedMessage(SlackRequest, ServiceMessage):
    """The worker's message: one request. Errors do not repeat it, because an address in it is secret."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    about = "id"

    @field_validator("do")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if name not in ACTIONS:
            raise ValueError("there is no such action")
        return name


def act(service: Service, asked: SlackRequest, slack: WebClient, *, members: Members, request: str) -> None:
    """Carries out a request and answers; a refusal or a failure is told to the asker alone.

    BadInput and its like end there. A CloudError is raised again, and so is any other error, of which the asker is told
    `request`, the id that the log has it under.
    """
    answers = SlackAnswers(asked=asked, slack=slack)
    try:
        _act(service, answers, members)
    except CloudError as error:
        answers.try_asker(plain_message(str(error)))
        raise
    except PlimsollError as error:
        answers.to_asker(plain_message(str(error)))
    except Exception:
        text = f"Something went wrong, and this was not done. The service's log says what, under {request}."
        answers.try_asker(plain_message(text))
        raise


def _act(service: Service, answers: SlackAnswers, members: Members) -> None:
    asked, config = answers.asked, service.config.slack
    if config is None:
        raise BadInput("Slack is not configured in this service: deploy it with slack.teams and slack.channel.")
    ours = not {asked.team, asked.enterprise}.isdisjoint(config.teams)
    if not ours or not members.may_act(asked.user, config.user_groups, answers.slack, service.clock.now()):
        answers.to_asker(plain_message(REFUSED))
        return
    settings = service.settings
    seconds = canary_seconds(runtime_s=settings.benchmark_runtime_s, ramp_s=settings.benchmark_ramp_s)
    work = ActionContext(
        asked=asked,
        answers=answers,
        service=service,
        slack=config,
        minutes=round(seconds / 60),
        place=lambda name: find_place(name, service.clock.now(), service),
        explain=lambda name: _explanation(name, service),
        savings=lambda: _savings(service),
    )
    ACTIONS[asked.do].perform(work)


def _explanation(name: str, service: Service) -> VolumeExplanation:
    now, policy = service.clock.now(), service.config.parsed_policy
    target, volume_id = find_place(name, now, service)
    ports = ports_at(target, now, service)
    group = {
        volume_id,
        *(member for stripe_set in ports.stripes if volume_id in stripe_set.members for member in stripe_set.members),
    }
    ports = replace(ports, excluded=excluded_volumes(service.history, target, sorted(group)))
    explained = explain_volume(ports, volume_id, policy, now)
    if explained is None:
        raise BadInput(f"there is no volume {volume_id} in {target} any more.")
    match explained.outcome:
        case FailedVolume(reason=reason):
            raise Unexpected(f"{volume_id}: {reason}")
        case Skipped(reason=reason):
            again = f" /plimsoll include {target}/{volume_id} includes it again."
            raise BadInput(f"{volume_id} is left out: {reason}.{again if volume_id in ports.excluded else ''}")
        case Answered() as answer:
            record = record_of(answer.recommendation, answer.change, provider=target.provider)
            seen = StoredProbes(store=service.store).latest(target, volume_id)
            story = tell_volume(
                record,
                together=answer.recommendation.stripe_set,
                seen=None if seen is None else seen.seen,
                link=service.console_link(record, policy, now),
            )
            return VolumeExplanation(volume_id=volume_id, story=tuple(story_blocks(story)))


def _savings(service: Service) -> SlackMessage:
    latest = latest_report(service.store)
    if latest is None:
        raise BadInput("there is no report yet: begin an audit with /plimsoll audit, and its report comes here.")
    keys = RunKeys(run_id=latest.run_id)
    run = run_of(require_content(service.store, keys.report(RUN)))
    return savings_message(run, f"{service.root}/{keys.report(PAGE)}")
