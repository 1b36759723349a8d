"""Telling of a run: each channel has the report of its part of it, once however often it is tried."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from slack_sdk import WebClient

from plimsoll.audit import never
from plimsoll.domain.errors import BadInput, CloudError, OutOfTime, PlimsollError
from plimsoll.reports.stored import PAGE, RECOMMENDATIONS, RUN, read_run, stream_records
from plimsoll.service.events import RecommendationNew
from plimsoll.service.kept import bring_needed
from plimsoll.service.layout import RunKeys
from plimsoll.service.service import Service
from plimsoll.service.slack_config import SlackConfig
from plimsoll.slack.actions.registry import CONTROLS
from plimsoll.slack.blocks.pictures import ROOFLINE, SAVINGS
from plimsoll.slack.blocks.report import conversation
from plimsoll.slack.notifications.channels import Part, accounts_of, channels_of, part_of, parts_of, quiet_of
from plimsoll.slack.notifications.events import RunTold
from plimsoll.slack.notifications.ledger import StoreLedger, picture_key
from plimsoll.slack.notifications.pictures import Draw, Gallery
from plimsoll.slack.notifications.posting import post

_CLAIMED: Final = timedelta(minutes=16)
"""How long a run is kept from others who would tell of it: a function lives for 15 minutes at most."""


def tell_run(
    service: Service,
    run_id: str,
    client: WebClient,
    draw: Draw,
    *,
    holder: str,
    stop: Callable[[], bool] = never,
) -> RunTold:
    """Posts a run's report to every channel that is told of it, or of a part; what stands already is not posted again.

    `holder` is who does it: another one meanwhile tells nobody. A channel that cannot be told keeps the others from
    nothing: at the end a CloudError names each with its remedy, and the next try goes on with what is missing. So it
    does after OutOfTime, which is raised once `stop` says so before all have been told. BadInput where the run has no
    report, or the service no Slack.
    """
    claim, now = f"slack-report/{run_id}", service.clock.now()
    if not service.claims.claim(claim, holder, now + _CLAIMED, now):
        return RunTold(run_id=run_id, busy=True)
    try:
        with TemporaryDirectory(prefix="plimsoll-") as folder:
            return _Telling.of(service, run_id, client, draw, Path(folder)).tell(stop)
    finally:
        service.claims.release(claim, holder)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    service: Service
    slack: SlackConfig
    keys: RunKeys
    client: WebClient
    run: Mapping[str, Any]
    parts: Mapping[str, Part]
    new: Collection[str]
    gallery: Gallery

    @classmethod
    def of(cls, service: Service, run_id: str, client: WebClient, draw: Draw, folder: Path) -> "_Telling":
        """What is to be told, read from the store into a folder and counted."""
        slack, keys = service.config.slack, RunKeys(run_id=run_id)
        if slack is None:
            raise BadInput("the service has no Slack to tell: give slack.teams and slack.channel, and deploy it again.")
        for name in (RUN, RECOMMENDATIONS):
            bring_needed(service.store, keys.report(name), folder / name)
        run = read_run(folder)
        quiet = quiet_of(stream_records(folder), service.history, datetime.fromisoformat(run["now"]))
        return cls(
            service=service,
            slack=slack,
            keys=keys,
            client=client,
            run=run,
            parts=parts_of(stream_records(folder), slack, quiet, _unread(run), service.places.unmeasured),
            new=_new(service, keys),
            gallery=Gallery(service=service, keys=keys, folder=folder, draw=draw),
        )

    def tell(self, stop: Callable[[], bool]) -> RunTold:
        """Every channel in turn."""
        told: dict[str, tuple[str, ...]] = {}
        failed: dict[str, PlimsollError] = {}
        for channel in channels_of(self.slack):
            if channel not in self.parts:
                continue
            try:
                told[channel] = self._post(channel, stop)
            except OutOfTime as error:
                raise OutOfTime(" ".join([str(error), *_named(failed)])) from error
            except PlimsollError as error:
                failed[channel] = error
        if failed:
            why = " ".join(_named(failed))
            raise CloudError(f"not every channel could be told of the run {self.keys.run_id}. {why}") from next(
                iter(failed.values())
            )
        troubles = [trouble for some in told.values() for trouble in some]
        return RunTold(run_id=self.keys.run_id, channels=list(told), troubles=troubles)

    def _post(self, channel: str, stop: Callable[[], bool]) -> tuple[str, ...]:
        part = self.parts[channel]
        ledger = StoreLedger(store=self.service.store, run_id=self.keys.run_id, channel=channel)
        there = ledger.load().posted
        shown = {name for name in (SAVINGS, ROOFLINE) if picture_key(name) in there}
        posted = post(
            conversation(
                part.digest,
                self.run,
                link=self.service.file_link(self.keys.report(PAGE)),
                new=self.new,
                part=part_of(self.slack, channel),
                controls=CONTROLS if self.slack.user_groups else (),
                accounts=accounts_of(self.slack, channel),
            ),
            channel,
            self.client,
            ledger,
            self.gallery.pictures_of(part, but=shown),
            run_id=self.keys.run_id,
            pause=self.service.pause,
            stop=stop,
        )
        return posted.troubles


def _named(failed: Mapping[str, PlimsollError]) -> list[str]:
    return [f"{channel}: {error}" for channel, error in failed.items()]


def _unread(run: Mapping[str, Any]) -> frozenset[str]:
    """The accounts of which a place or a volume could not be read."""
    failures = run["failures"]
    return frozenset(place.partition("/")[0] for place in (*failures["targets"], *failures["volumes"]))


def _new(service: Service, keys: RunKeys) -> frozenset[str]:
    """The full names of the volumes that something is first recommended of; none where that is no longer kept."""
    kept = service.store.get(keys.news)
    events = [] if kept is None else json.loads(kept)
    return frozenset(
        f"{detail['account']}/{detail['region']}/{detail['volume_id']}"
        for kind, detail in events
        if kind == RecommendationNew.__name__
    )
