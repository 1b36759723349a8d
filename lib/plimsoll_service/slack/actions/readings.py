"""Readings: what the worker reads for an action, a volume explained anew and what the latest report found."""

from dataclasses import replace

from plimsoll.auditing.explain import explain_volume
from plimsoll.jobs.document import require_content
from plimsoll.model.errors import BadInput, Unexpected
from plimsoll.outcomes import Answered, FailedVolume, Skipped
from plimsoll.reports.answers import record_of
from plimsoll.reports.run_files import PAGE, RUN
from plimsoll.reports.run_record import run_of
from plimsoll.reports.story.volume import tell_volume
from plimsoll_service.history_update import excluded_volumes
from plimsoll_service.latest_report import latest_report
from plimsoll_service.probing import StoredProbes
from plimsoll_service.service import Service
from plimsoll_service.slack.actions.action import VolumeExplanation
from plimsoll_service.slack.actions.volume_search import find_named
from plimsoll_service.slack.blocks.message import SlackMessage
from plimsoll_service.slack.blocks.report import savings_message
from plimsoll_service.slack.blocks.story import story_blocks
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.target_ports import ports_at


def explain_place(name: str, service: Service) -> VolumeExplanation:
    """The explanation of a volume, read anew, by what people call it. Raises BadInput if there is none."""
    now, policy = service.clock.now(), service.config.parsed_policy
    target, volume_id = find_named(name, service)
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


def find_savings(service: Service) -> SlackMessage:
    """The message of what the latest report found. Raises BadInput if there is no report."""
    latest = latest_report(service.store)
    if latest is None:
        raise BadInput("there is no report yet: begin an audit with /plimsoll audit, and its report comes here.")
    keys = RunKeys(run_id=latest.run_id)
    run = run_of(require_content(service.store, keys.report(RUN)))
    return savings_message(run, f"{service.root}/{keys.report(PAGE)}")
