"""Parts: what each channel is told of a run, counted as its recommendations go by."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from plimsoll.clouds.aws.chunks import in_chunks
from plimsoll.clouds.targets import named_target
from plimsoll.domain.decisions import holding
from plimsoll.domain.recommendation import CHANGES
from plimsoll.ports import History, Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.stored import full_name
from plimsoll.service.slack_config import SlackConfig
from plimsoll.slack.blocks.digest import Digest
from plimsoll.slack.notifications.routing import accounts_of, channels_of, routed

_AT_ONCE: Final = 500
"""Recommendations whose decisions are asked for together."""


@dataclass(slots=True, kw_only=True)
class Part:
    """What a channel is told of: its digest, and the recommendation that saves the most and can be drawn."""

    digest: Digest
    largest: RecommendationRecord | None = None

    def count(self, record: RecommendationRecord, *, quiet: bool) -> None:
        """Counts a recommendation."""
        self.digest.count(record)
        least = 0.0 if self.largest is None else self.largest.monthly_usd_saved
        if not quiet and record.ceilings is not None and record.monthly_usd_saved > least:
            self.largest = record

    @property
    def saved_usd_by_account(self) -> Mapping[str, float]:
        """What can be saved in each account, USD a month."""
        return {account: sums.totals.usd_saved for account, sums in self.digest.accounts.items()}


def parts_of(
    records: Iterable[RecommendationRecord],
    config: SlackConfig,
    quiet: Collection[str] = (),
    unread: Collection[str] = (),
    unmeasured: Callable[[Target], str | None] = lambda _target: None,
) -> dict[str, Part]:
    """The part of each channel that is told anything, by its id: that of the whole, and of the others those with a
    volume, or with an account of which something could not be read (`unread`).

    `quiet` volumes, by their full names, are counted and not listed. Where `unmeasured` has a reason why nothing is
    measured at a target, its volumes have no button to validate.
    """

    def measured(record: RecommendationRecord) -> bool:
        return unmeasured(named_target(record.account, record.region)) is None

    def begun() -> Part:
        return Part(digest=Digest(quiet=quiet, measured=measured))

    concerned = [channel for channel in channels_of(config) if set(accounts_of(config, channel)) & set(unread)]
    parts = {channel: begun() for channel in (config.channel, *concerned)}
    for record in records:
        for channel in routed(config, record):
            part = parts.get(channel) or parts.setdefault(channel, begun())
            part.count(record, quiet=full_name(record) in quiet)
    return parts


def quiet_of(records: Iterable[RecommendationRecord], history: History, now: datetime) -> frozenset[str]:
    """The full names of those that people want silence about as of a time; CloudError as of the history."""
    return frozenset(name for some in in_chunks(records, _AT_ONCE) for name in _silent(some, history, now))


def _silent(records: Sequence[RecommendationRecord], history: History, now: datetime) -> Iterator[str]:
    by_target: dict[Target, list[str]] = {}
    for record in records:
        if record.action in CHANGES:
            target = named_target(record.account, record.region)
            by_target.setdefault(target, []).append(record.volume_id)
    for target, volume_ids in by_target.items():
        decided = history.decisions(target, volume_ids)
        entries = history.entries(target, [*decided])
        for volume_id, decisions in decided.items():
            entry = entries.get(volume_id)
            if holding(decisions).after(entry.done_on if entry else None).silent(now):
                yield f"{target}/{volume_id}"
