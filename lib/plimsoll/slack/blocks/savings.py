"""What the last audit found, in a few lines, and where its report is."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from plimsoll.reports.steps import CENT
from plimsoll.reports.summary.headline import incomplete, since_before
from plimsoll.reports.wording import count_of, usd
from plimsoll.slack.blocks.elements import Block, bold, bullets, header, note, said
from plimsoll.slack.blocks.message import Message

_BESIDE: Final = {
    "saved_drop_in": "of it gives up no IOPS or MiB/s that the volumes have today",
    "saved_on_proof": "of it rests on the measured demand",
    "saved_but_blocked": "of it is blocked today",
    "more_for_upgrades": "a month more would speed up throttled volumes",
    "detached": "a month is paid for volumes that are attached to nothing",
}
"""The figures of run.json beside the saving, and what each means."""


def savings_message(run: Mapping[str, Any], place: str) -> Message:
    """The figures of a run by its run.json; `place` is where its report is."""
    text = _headline(run)
    return Message.of(text, _blocks(run, text, place))


def _blocks(run: Mapping[str, Any], text: str, place: str) -> Iterator[Block]:
    money, missing, since = run["monthly_usd"], incomplete(run, whole=True), since_before(run)
    yield header(text)
    if money["now"] >= CENT:
        yield said(f"The volumes whose price is known cost {usd(money['now'])} a month.")
    figures = [(key, words) for key, words in _BESIDE.items() if money[key] >= CENT]
    yield from bullets([bold(usd(money[key])), f" {words}"] for key, words in figures)
    if since:
        yield said(since)
    if missing:
        yield said(missing)
    when = f"{datetime.fromisoformat(run['now']):%Y-%m-%d %H:%M} UTC"
    yield note(f"Audit {run['id']} of {when}, {count_of(run['volumes']['seen'], 'volume')}. Its report: {place}")


def _headline(run: Mapping[str, Any]) -> str:
    saved = run["monthly_usd"]["saved"]
    return f"{usd(saved)} a month can be saved" if saved >= CENT else "Nothing can be saved"
