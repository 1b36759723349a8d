"""Acting: who may is let, what was asked is done, and whoever asked is told what came of it."""

from typing import assert_never

from slack_sdk import WebClient

from plimsoll.domain.errors import BadInput, CloudError, PlimsollError
from plimsoll.service.service import Service
from plimsoll.service.slack_config import SlackConfig
from plimsoll.slack.actions import words
from plimsoll.slack.actions.answering import Answers
from plimsoll.slack.actions.asked import Asked, Audit, Done, Exclude, Explain, Include, Savings, Snooze, Validate
from plimsoll.slack.actions.beginning import audit, validate
from plimsoll.slack.actions.deciding import decide
from plimsoll.slack.actions.explaining import explain
from plimsoll.slack.actions.members import Members
from plimsoll.slack.actions.savings import savings


def act(service: Service, asked: Asked, slack: WebClient, *, members: Members, request: str) -> None:
    """Does what was asked and answers; the asker alone is told where it is refused or cannot be done.

    What cannot be done by what was asked (BadInput and its like) ends there. A CloudError, and what nobody thought of,
    is raised as well; of the latter the asker is told `request`, by which the log has it.
    """
    answers = Answers(asked=asked, slack=slack)
    try:
        _act(service, answers, members)
    except CloudError as error:
        answers.try_asker(words.plain(str(error)))
        raise
    except PlimsollError as error:
        answers.to_asker(words.plain(str(error)))
    except Exception:
        answers.try_asker(words.failed(request))
        raise


def _act(service: Service, answers: Answers, members: Members) -> None:
    asked, config = answers.asked, service.config.slack
    if config is None:
        raise BadInput("Slack is not configured in this service: deploy it with slack.teams and slack.channel.")
    ours = not {asked.team, asked.enterprise}.isdisjoint(config.teams)
    if not ours or not members.may_act(asked.user, config.user_groups, answers.slack, service.clock.now()):
        answers.to_asker(words.plain(words.REFUSED))
        return
    _do(service, config, answers)


def _do(service: Service, config: SlackConfig, answers: Answers) -> None:
    wish = answers.asked.wish
    match wish:
        case Explain():
            explain(service, answers, wish.volume)
        case Validate():
            validate(service, config, answers, wish)
        case Snooze() | Done() | Exclude() | Include():
            answers.to_all(decide(service, answers.asked, wish))
        case Audit():
            audit(service, answers)
        case Savings():
            answers.to_all(savings(service))
        case _:
            assert_never(wish)
