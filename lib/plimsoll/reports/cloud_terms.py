"""Cloud words: what each cloud calls its things, by the cloud's name in records, targets and run.json."""

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.clouds.registry import CLOUDS, CloudWords
from plimsoll.reports.record import FIRST_PROVIDER


def words_of(provider: str) -> CloudWords:
    """A cloud's words; those of a cloud that has none here are its name and general terms."""
    return (
        CLOUDS[provider].words
        if provider in CLOUDS
        else CloudWords(
            cloud=provider,
            account="account",
            account_option="--account",
            monitoring="its monitoring",
            shown="opens its console",
            call="metric",
            quotas="its quotas",
            price="its price list",
            way_back="What it can be changed back by, and how often, its cloud says.",
        )
    )


def clouds_of(run: Mapping[str, Any]) -> tuple[str, ...]:
    """The clouds that a run asked; runs of earlier versions knew one and did not name it."""
    return tuple(run.get("clouds") or (FIRST_PROVIDER,))


def calls_in(providers: Iterable[str]) -> str:
    """The names of the calls that read these clouds' metrics."""
    return together(words_of(provider).call for provider in providers)


def accounts_in(providers: Iterable[str]) -> str:
    """What these clouds call an account: "account or project" where they differ."""
    return together((words_of(provider).account for provider in providers), "or")


def together(words: Iterable[str], joint: str = "and") -> str:
    """Some words as a list, each once."""
    return f" {joint} ".join(dict.fromkeys(words))
