"""Beginning: audits and measurements that somebody asks for, each request one of them."""

from plimsoll.clouds.aws.names import SLACK_EXECUTIONS
from plimsoll.clouds.targets import named_target
from plimsoll.domain.decisions import Decision
from plimsoll.domain.errors import AccessDenied, BadInput, CloudError
from plimsoll.service.layout import asked_key
from plimsoll.service.service import Service
from plimsoll.service.slack_config import SlackConfig
from plimsoll.slack.actions import words
from plimsoll.slack.actions.answering import Answers
from plimsoll.slack.actions.asked import Asked, Validate
from plimsoll.slack.actions.deciding import decision_of, kept
from plimsoll.slack.blocks.message import Message
from plimsoll.validation.fio_job import canary_seconds


def audit(service: Service, answers: Answers) -> None:
    """Begins an audit of the whole scope and says so."""
    asked = answers.asked
    begun = service.executions.begin("audit", execution_of(asked), {})
    answers.to_all(words.auditing(asked.user, begun, waits=service.config.when_busy == "wait"))


def validate(service: Service, config: SlackConfig, answers: Answers, wish: Validate) -> None:
    """Begins a measurement of what is recommended of a volume and says so; who ends it finds where the answer goes.

    BadInput where nothing can be measured by this service, or for a volume that there is not.
    """
    asked = answers.asked
    decision = decision_of(service, asked, wish)
    why = service.places.unmeasured(named_target(decision.account, decision.region))
    if why is not None:
        raise BadInput(why)
    if not _begun(service, asked, decision):
        answers.to_all(words.measuring_before(kept(service, decision)))
        return
    seconds = canary_seconds(runtime_s=service.settings.benchmark_runtime_s, ramp_s=service.settings.benchmark_ramp_s)
    message = words.measuring(asked.user, decision, round(seconds / 60), service.config.validation.max_usd)
    if asked.channel is not None and asked.thread is not None:
        answers.to_all(message)
        return
    try:
        channel, thread = _told(answers, config, message)
    except CloudError as error:  # it is begun all the same, and whoever thinks it is not asks and pays twice
        answers.to_asker(words.measuring_alone(str(error)))
        return
    _keep(service, asked.model_copy(update={"channel": channel, "thread": thread}))
    if channel != asked.channel:
        answers.to_asker(words.measuring_elsewhere(channel))


def _told(answers: Answers, config: SlackConfig, message: Message) -> tuple[str, str]:
    """Posts it where it was asked, or in the service's own channel where the app may not; the channel and thread."""
    channel = answers.asked.channel or config.channel
    try:
        return channel, answers.post(message, channel)
    except AccessDenied:
        if channel == config.channel:
            raise
        return config.channel, answers.post(message, config.channel)


def execution_of(asked: Asked) -> str:
    """The name of the execution that a request begins."""
    return f"{SLACK_EXECUTIONS}{asked.id}"


def _begun(service: Service, asked: Asked, decision: Decision) -> bool:
    """Begins a measurement and keeps who asked for it; False where the same was asked for before.

    Who asks is kept first, so that it cannot end too early for its answer, and who asked first stays. That it was asked
    for is kept last: an attempt that broke off in between is gone on with by the next one.
    """
    if service.store.get(asked_key(execution_of(asked))) is None:
        _keep(service, asked)
    service.executions.begin("validation", execution_of(asked), {"volume_id": words.name_of(decision)})
    return service.history.decide(decision)


def _keep(service: Service, asked: Asked) -> None:
    """Keeps what was asked, without the address for answers, which is a secret and does not last."""
    lasting = asked.model_copy(update={"response_url": None, "view": None})
    service.store.put(asked_key(execution_of(asked)), lasting.model_dump_json().encode())
