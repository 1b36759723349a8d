"""The worker: who may act is checked, the action is carried out on the service, and the asker is answered."""

from typing import Final

from pydantic import ConfigDict, field_validator
from slack_sdk import WebClient

from plimsoll.model.errors import BadInput, CloudError, PlimsollError
from plimsoll_measure.validation.fio_job import canary_seconds
from plimsoll_service.service import Service, unmeasured_reason
from plimsoll_service.slack.actions.action import ActionContext
from plimsoll_service.slack.actions.answers import SlackAnswers, plain_message
from plimsoll_service.slack.actions.asked import SlackRequest
from plimsoll_service.slack.actions.members import Members
from plimsoll_service.slack.actions.plans import present_plan, say_on_plan
from plimsoll_service.slack.actions.readings import explain_place, find_savings
from plimsoll_service.slack.actions.registry import ACTIONS
from plimsoll_service.slack.actions.volume_search import find_named
from plimsoll_service.step_messages import StepMessage as ServiceMessage

REFUSED: Final = (
    "Only members of certain user groups may use Plimsoll here, and you are in none of them. Ask whoever runs Plimsoll "
    "to add you: that takes effect within five minutes."
)


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
        history=service.history,
        store=service.store,
        executions=service.executions,
        clock=service.clock,
        slack=config,
        minutes=round(seconds / 60),
        max_usd=service.config.validation.max_usd,
        audits_wait=service.config.when_busy == "wait",
        unmeasured=unmeasured_reason,
        place=lambda name: find_named(name, service),
        explain=lambda name: explain_place(name, service),
        savings=lambda: find_savings(service),
        show_plan=lambda name: present_plan(name, service),
        say_on_plan=lambda request: say_on_plan(request, service),
    )
    ACTIONS[asked.do].perform(work)
