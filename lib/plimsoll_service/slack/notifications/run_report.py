"""A run's report: each channel gets its part of it, once however often that is tried."""

import json
import logging
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel, ConfigDict, Field
from slack_sdk import WebClient

from plimsoll.auditing.audit import no_stop
from plimsoll.clouds.targets import named_target
from plimsoll.jobs.document import require_file
from plimsoll.model.errors import BadInput
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_files import DEMAND, PAGE, RECOMMENDATIONS, RUN
from plimsoll.reports.run_reader import find_profile, full_name, read_run
from plimsoll.reports.run_record import RunRecord
from plimsoll_service.events import RecommendationNew
from plimsoll_service.service import Service, unmeasured_reason
from plimsoll_service.shared_measurements import bring_measurements
from plimsoll_service.slack.actions.registry import offer_controls
from plimsoll_service.slack.blocks.pictures import ROOFLINE, SAVINGS, Draft, drafts
from plimsoll_service.slack.blocks.report import conversation
from plimsoll_service.slack.notifications.channels import (
    ChannelPart,
    accounts_of,
    channels_of,
    part_words,
    parts_of,
    quiet_of,
)
from plimsoll_service.slack.notifications.posting import (
    POST_CLAIM_TIME,
    PngPicture,
    Posting,
    StoreLedger,
    picture_key,
    post_everywhere,
)
from plimsoll_service.step_messages import RunId, StepAnswer, StepMessage
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.stored_results import batch_folders
from plimsoll_service.streams import records_in

_log = logging.getLogger(__name__)

Draw = Callable[[Draft], bytes]
"""Makes a PNG image of a picture."""


class AuditDetail(BaseModel):
    """The run that has been reported; what else the event has is ignored."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: RunId


class AuditEvent(StepMessage):
    """The event `AuditCompleted` of the service's own bus."""

    about = "detail.run_id"

    detail: AuditDetail


class RunPosted(StepAnswer):
    """The channels that have a run's report, and a sentence for each part that is missing there.

    `busy`: another function is posting it now, and this one has posted nothing.
    """

    run_id: str
    channels: list[str] = Field(default_factory=list)
    troubles: list[str] = Field(default_factory=list)
    busy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """The pictures of one run; `folder` exists while they are drawn."""

    service: Service
    keys: RunKeys
    folder: Path
    draw: Draw

    def draw_pictures(self, part: ChannelPart, *, but: Collection[str] = ()) -> Iterator[PngPicture]:
        """The pictures of a part of the run, except those named in `but`. A failed one is logged and left out."""
        for name in (SAVINGS, ROOFLINE):
            if name in but:
                continue
            try:
                drafted = drafts(part.saved_usd_by_account) if name == SAVINGS else self._largest(part.largest)
                pictures = [PngPicture(name=draft.name, title=draft.title, png=self.draw(draft)) for draft in drafted]
            except Exception:  # noqa: BLE001  # whatever a drawing fails on, its message is worth more
                _log.exception("a picture of run %s cannot be drawn", self.keys.run_id)
            else:
                yield from pictures

    def _largest(self, record: RecommendationRecord | None) -> tuple[Draft, ...]:
        profile = None if record is None else self._profile(record)
        if record is None or profile is None:
            return ()
        bring_measurements(self.service.store, self.service.measured)
        named = record.evidence.envelope if record.evidence else None
        return drafts({}, record, profile, self.service.envelopes(self.service.measured).get(named or ""))

    def _profile(self, record: RecommendationRecord) -> DemandProfileRecord | None:
        """A volume's demand profile, from any batch of its target. None if it is no longer kept."""
        target = named_target(record.account, record.region)
        kept = self.folder / full_name(record)
        for folder in batch_folders(self.service.store, self.keys, kept, (DEMAND,), target):
            profile = find_profile(folder, full_name(record))
            if profile is not None:
                return profile
        return None


def post_run_report(
    service: Service,
    run_id: str,
    client: WebClient,
    draw: Draw,
    *,
    holder: str,
    stop: Callable[[], bool] = no_stop,
) -> RunPosted:
    """Posts a run's report to every channel that has a part of it; parts posted before are not posted again.

    `holder` names this attempt: while it runs, another one posts nothing. A channel that fails does not stop the
    others: a CloudError at the end names each failure with its remedy. The next attempt goes on with what is missing,
    also after OutOfTime, which is raised when `stop` says so. Raises BadInput if the run has no report, or the service
    no Slack.
    """
    claim, now = f"slack-report/{run_id}", service.clock.now()
    if not service.claims.claim(claim, holder, now + POST_CLAIM_TIME, now):
        return RunPosted(run_id=run_id, busy=True)
    try:
        with TemporaryDirectory(prefix="plimsoll-") as folder:
            return _post_parts(service, RunKeys(run_id), client, draw, Path(folder), stop)
    finally:
        service.claims.release(claim, holder)


def _post_parts(
    service: Service, keys: RunKeys, client: WebClient, draw: Draw, folder: Path, stop: Callable[[], bool]
) -> RunPosted:
    """Posts a run's report, brought from the store into a folder, to one channel after the other."""
    slack = service.config.slack
    if slack is None:
        raise BadInput("Slack is not configured: give slack.teams and slack.channel, and deploy the service again.")
    require_file(service.store, keys.report(RUN), folder / RUN)
    run, recommendations = read_run(folder), keys.report(RECOMMENDATIONS)
    quiet = quiet_of(records_in(service.store, recommendations), service.history, datetime.fromisoformat(run.now))
    records = records_in(service.store, recommendations)
    parts = parts_of(records, slack, quiet, _unread_accounts(run), unmeasured_reason)
    gallery, new = Gallery(service=service, keys=keys, folder=folder, draw=draw), _new_volumes(service, keys)
    controls = offer_controls(f"${service.config.validation.max_usd:,.2f}") if slack.user_groups else ()

    def post(channel: str) -> tuple[str, ...]:
        ledger = StoreLedger(store=service.store, run_id=keys.run_id, channel=channel)
        posting = Posting(
            channel=channel, client=client, ledger=ledger, run_id=keys.run_id, pause=service.pause, stop=stop
        )
        shown = {name for name in (SAVINGS, ROOFLINE) if picture_key(name) in ledger.load().posted}
        report = conversation(
            parts[channel].digest,
            run,
            link=service.file_link(keys.report(PAGE)),
            new=new,
            part=part_words(slack, channel),
            controls=controls,
            introduce=ledger.is_first,
            accounts=accounts_of(slack, channel),
        )
        troubles = posting.post(report, gallery.draw_pictures(parts[channel], but=shown)).troubles
        ledger.keep_latest()
        return troubles

    channels = filter(parts.__contains__, channels_of(slack))
    troubles = post_everywhere(channels, post, f"the report of run {keys.run_id}")
    return RunPosted(run_id=keys.run_id, channels=list(troubles), troubles=list(chain(*troubles.values())))


def _unread_accounts(run: RunRecord) -> frozenset[str]:
    """The accounts with a place or a volume that could not be read."""
    return frozenset(place.partition("/")[0] for place in (*run.failures.targets, *run.failures.volumes))


def _new_volumes(service: Service, keys: RunKeys) -> frozenset[str]:
    """The full names of volumes with a first recommendation; none if they are no longer kept."""
    kept = service.store.get(keys.news)
    events = [] if kept is None else json.loads(kept)
    return frozenset(
        f"{detail['account']}/{detail['region']}/{detail['volume_id']}"
        for kind, detail in events
        if kind == RecommendationNew.__name__
    )
