"""Readings: what the worker reads for an action, a volume explained anew and what the latest report found."""

import re
from dataclasses import replace

from plimsoll.auditing.explain import explain_volume
from plimsoll.clouds.registry import volume_pattern
from plimsoll.clouds.targets import named_target
from plimsoll.jobs.document import require_content
from plimsoll.model.errors import BadInput, Unexpected
from plimsoll.model.volume_names import choose_volume, quote_word
from plimsoll.outcomes import Answered, FailedVolume, Skipped
from plimsoll.ports import Target
from plimsoll.reports.answers import record_of
from plimsoll.reports.run_files import PAGE, RECOMMENDATIONS, RUN
from plimsoll.reports.run_reader import name_of_record
from plimsoll.reports.run_record import run_of
from plimsoll.reports.story.volume import tell_volume
from plimsoll_service.history_update import excluded_volumes
from plimsoll_service.latest_report import latest_report
from plimsoll_service.probing import StoredProbes
from plimsoll_service.service import Service
from plimsoll_service.slack.actions.action import VolumeExplanation
from plimsoll_service.slack.blocks.message import SlackMessage
from plimsoll_service.slack.blocks.report import savings_message
from plimsoll_service.slack.blocks.story import story_blocks
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.streams import records_in
from plimsoll_service.target_ports import find_place, ports_at


def find_named(name: str, service: Service) -> tuple[Target, str]:
    """The target and id of a volume by what people call it (`volume_names`), as the latest report has it.

    An id that the report does not have is searched for in the accounts. Raises BadInput for a name that several
    volumes have, or none.
    """
    now, is_id = service.clock.now(), re.fullmatch(volume_pattern(), name) is not None
    latest = None if is_id and "/" in name else latest_report(service.store)
    if latest is not None:
        words = (word.encode() for word in re.findall(r"[A-Za-z0-9.-]+", name))
        records = records_in(service.store, RunKeys(run_id=latest.run_id).report(RECOMMENDATIONS), words)
        record = choose_volume(name, ((name_of_record(record), record) for record in records))
        if record is not None:
            return named_target(record.account, record.region), record.volume_id
    if is_id:
        return find_place(name, now, service)
    where = "there is no report yet that knows names" if latest is None else "the latest report has none of that name"
    raise BadInput(f"there is no volume {quote_word(name)}: {where}. Give its id.")


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
