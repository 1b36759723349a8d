"""What is new and what was done since earlier runs, in one sentence, where a run knows of any."""

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.reports.steps import CENT
from plimsoll.reports.wording import count_of, usd


def since_before(run: Mapping[str, Any]) -> str:
    """The sentence; empty where the run knows of no history."""
    history = run.get("history")
    return "; ".join(_parts(history)) + "." if history else ""


def _parts(history: Mapping[str, Any]) -> Iterator[str]:
    new, snoozed, done, now = (history[key] for key in ("new", "snoozed", "done", "done_now"))
    verb = "is" if new == 1 else "are"
    yield f"{count_of(new, 'recommendation')} {verb} new" if new else "No recommendation is new"
    if done:
        told = f"{count_of(done, 'volume')} {'has' if done == 1 else 'have'} been changed as recommended"
        told += f", {now:,} of them seen for the first time" if now and now < done else ""
        saved = history["saved_usd_month_since"]
        yield f"{told}, which saves {usd(saved)} a month" if saved >= CENT else told
    if snoozed:
        yield f"{count_of(snoozed, 'recommendation')} {'is' if snoozed == 1 else 'are'} snoozed"
