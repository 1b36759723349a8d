"""Routing: which channels are told of a volume, by its account, its owner and the tags that the policy shows."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from plimsoll.domain.policy import TagMatch
from plimsoll.domain.volume import NAME_TAG
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import owner_text
from plimsoll.service.slack_config import Route, SlackConfig


def channels_of(config: SlackConfig) -> list[str]:
    """Every channel that is told anything: that of the whole first, then those of the routes, each once."""
    return list(dict.fromkeys([config.channel, *(route.channel for route in config.routes)]))


def routed(config: SlackConfig, record: RecommendationRecord) -> list[str]:
    """The channels that are told of a volume, each once; that of the whole is told of all."""
    owners = [name for name in (record.owner.name, owner_text(record.owner)) if name]
    tags = record.tags if record.name is None else {**record.tags, NAME_TAG: record.name}
    found = (route.channel for route in config.routes if _is_of(route, record.account, owners, tags))
    return list(dict.fromkeys([config.channel, *found]))


def accounts_of(config: SlackConfig, channel: str) -> list[str]:
    """The accounts that a channel is told of as such, each once."""
    routes = (route for route in config.routes if route.channel == channel)
    return list(dict.fromkeys(account for route in routes for account in route.accounts))


def part_of(config: SlackConfig, channel: str) -> str:
    """The part of a run that a channel is told of, in words; empty for the channel that is told of all."""
    if channel == config.channel:
        return ""
    routes = [route for route in config.routes if route.channel == channel]
    words = {
        "account": [account for route in routes for account in route.accounts],
        "owner": [owner for route in routes for owner in route.owners],
        "tag": [str(TagMatch(tag=key, value=value)) for route in routes for key, value in route.tags.items()],
    }
    return "; ".join(
        f"{kind}{'' if len(found) == 1 else 's'} {', '.join(found)}"
        for kind, named in words.items()
        if (found := list(dict.fromkeys(named)))
    )


def _is_of(route: Route, account: str, owners: list[str], tags: Mapping[str, str]) -> bool:
    return (
        account in route.accounts
        or any(fnmatchcase(owner, pattern) for pattern in route.owners for owner in owners)
        or any(TagMatch(tag=key, value=value).matches(tags) for key, value in route.tags.items())
    )
