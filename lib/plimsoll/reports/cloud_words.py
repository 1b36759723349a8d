"""Cloud words: what each cloud calls its things, by the name that records, targets and run.json have of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.reports.record import FIRST_PROVIDER


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudWords:
    """What a cloud is called, what it calls an account, its monitoring and the call that reads metrics, what a link
    there shows, the settings that reading is reckoned by, and what is to be known of the way back from a change."""

    cloud: str
    account: str
    monitoring: str
    shown: str
    call: str
    quotas: str
    price: str
    way_back: str


_WORDS: Final[Mapping[str, CloudWords]] = {
    "aws": CloudWords(
        cloud="AWS",
        account="account",
        monitoring="CloudWatch",
        shown="opens the console with the same PERIOD expressions",
        call="GetMetricData",
        quotas="PLIMSOLL_CALLS_PER_S and _DATAPOINTS_PER_S",
        price="PLIMSOLL_USD_PER_1000_METRICS",
        way_back="A volume is changed while it is in use; AWS takes four changes of it in 24 hours, and none while the "
        "last one is under way.",
    ),
    "google": CloudWords(
        cloud="Google Cloud",
        account="project",
        monitoring="Cloud Monitoring",
        shown="opens Metrics Explorer with the peaks per second of every disk on its hosts",
        call="ListTimeSeries",
        quotas="PLIMSOLL_GOOGLE_CALLS_PER_S and what one process takes in",
        price="PLIMSOLL_GOOGLE_USD_PER_1000_SERIES",
        way_back="What a Hyperdisk is provisioned with is changed while it is in use. A type is changed back as it was "
        "changed: by a snapshot of the disk as it is then, so that nothing written since is lost.",
    ),
}


def words_of(provider: str) -> CloudWords:
    """A cloud's words; those of a cloud that has none here are its name and general terms."""
    return _WORDS.get(provider) or CloudWords(
        cloud=provider,
        account="account",
        monitoring="its monitoring",
        shown="opens its console",
        call="metric",
        quotas="its quotas",
        price="its price list",
        way_back="What it can be changed back by, and how often, its cloud says.",
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
