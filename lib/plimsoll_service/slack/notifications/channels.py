"""Channels: which ones a volume is reported to, and its part of a run, counted as the records go by."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final

from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.targets import named_target
from plimsoll.model.kinds import CHANGES
from plimsoll.model.people import find_holding
from plimsoll.model.policy import TagMatch
from plimsoll.model.volume import NAME_TAG
from plimsoll.ports import HistoryStore, Target
from plimsoll.reports.record import OwnerRecord, RecommendationRecord
from plimsoll.reports.run_reader import full_name
from plimsoll.reports.wording import owner_text
from plimsoll_service.slack.blocks.digest import Digest
from plimsoll_service.slack_config import Route, SlackConfig


def channels_of(config: SlackConfig) -> list[str]:
    """Every channel, each once: the one for the whole run first, then those of the routes."""
    return list(dict.fromkeys([config.channel, *(route.channel for route in config.routes)]))


def channels_for(config: SlackConfig, record: RecommendationRecord) -> list[str]:
    """The channels that a volume is reported to, each once; the one for the whole run gets all."""
    tags = record.tags if record.name is None else {**record.tags, NAME_TAG: record.name}
    return route_volume(config, record.account, record.owner, tags)


def route_volume(config: SlackConfig, account: str, owner: OwnerRecord, tags: Mapping[str, str]) -> list[str]:
    """The channels that a volume of that account and owner is reported to, by its tags and its Name."""
    owners = [name for name in (owner.name, owner_text(owner)) if name]
    routed = (route.channel for route in config.routes if _is_of(route, account, owners, tags))
    return list(dict.fromkeys([config.channel, *routed]))


def accounts_of(config: SlackConfig, channel: str) -> list[str]:
    """The accounts that routes name for a channel, each once."""
    routes = (route for route in config.routes if route.channel == channel)
    return list(dict.fromkeys(account for route in routes for account in route.accounts))


def part_words(config: SlackConfig, channel: str) -> str:
    """A channel's part of a run in words; empty for the channel that gets all of it."""
    if channel == config.channel:
        return ""
    routes = [route for route in config.routes if route.channel == channel]
    words = {
        "account": [account for route in routes for account in route.accounts],
        "owner": [owner for route in routes for owner in route.owners],
        "tag": [str(TagMatch(tag=key, value=value)) for route in routes for key, value in route.tags.items()],
    }
    return "; ".join(
        f"{kind}{'' if len(names) == 1 else 's'} {', '.join(names)}"
        for kind, values in words.items()
        if (names := list(dict.fromkeys(values)))
    )


def _is_of(route: Route, account: str, owners: list[str], tags: Mapping[str, str]) -> bool:
    return (
        account in route.accounts
        or any(fnmatchcase(owner, pattern) for pattern in route.owners for owner in owners)
        or any(TagMatch(tag=key, value=value).is_match(tags) for key, value in route.tags.items())
    )


_AT_ONCE: Final = 500
"""Recommendations whose decisions are asked for together."""


@dataclass(slots=True, kw_only=True)
class ChannelPart:
    """A channel's part of a run: its digest, and the largest saving that can be drawn."""

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
        """The savings of each account, USD a month."""
        return {account: sums.totals.usd_saved for account, sums in self.digest.accounts.items()}


def parts_of(
    records: Iterable[RecommendationRecord],
    config: SlackConfig,
    quiet: Collection[str] = (),
    unread: Collection[str] = (),
    unmeasured: Callable[[Target], str | None] = lambda _target: None,
) -> dict[str, ChannelPart]:
    """Each channel's part by the channel's id. A routed channel has one if it has a volume or an account in `unread`.

    `unread` accounts have something that could not be read. `quiet` volumes, by their full names, are counted and not
    listed. If `unmeasured` gives a reason for a target, nothing can be measured there, and its volumes have no button
    to validate.
    """

    def can_measure(record: RecommendationRecord) -> bool:
        return unmeasured(named_target(record.account, record.region)) is None

    def new_part() -> ChannelPart:
        return ChannelPart(digest=Digest(quiet=quiet, measured=can_measure))

    concerned = [channel for channel in channels_of(config) if set(accounts_of(config, channel)) & set(unread)]
    parts = {channel: new_part() for channel in (config.channel, *concerned)}
    for record in records:
        for channel in channels_for(config, record):
            part = parts.get(channel) or parts.setdefault(channel, new_part())
            part.count(record, quiet=full_name(record) in quiet)
    return parts


def quiet_of(records: Iterable[RecommendationRecord], history: HistoryStore, now: datetime) -> frozenset[str]:
    """The full names of volumes that are snoozed, done or excluded at a time. Raises CloudError if the history does."""
    return frozenset(name for chunk in in_chunks(records, _AT_ONCE) for name in _silent(chunk, history, now))


def _silent(records: Sequence[RecommendationRecord], history: HistoryStore, now: datetime) -> Iterator[str]:
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
            if find_holding(decisions).end_snooze(entry.done_on if entry else None).is_silent(now):
                yield f"{target}/{volume_id}"
