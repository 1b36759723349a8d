"""Show why one volume, by name or id, should change, or stay as it is.

Two screens: the answer, money, risk, demand, every offer and why it lost, the change and the way back.

It reads the newest run. With --fresh, or an option about accounts or a policy, it asks the cloud.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.screen import Screen, beginning
from plimsoll.model.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.clouds.scope import Scope
    from plimsoll.demand.seconds import SecondsSeen
    from plimsoll.model.policy import Policy
    from plimsoll.orders import Order
    from plimsoll.reports.record import RecommendationRecord

_LISTED: Final = ("Begin with", 3)

_MORE: Final = "For every reason, both plots and the console's link, add --all. "


def explain_command(
    words: options.VolumeWords,
    run: Annotated[Path | None, typer.Option(help="Folder of a run. Default: the newest that has answers.")] = None,
    *,
    whole: Annotated[
        bool, typer.Option("--all", help="Everything: all reasons, both plots, and the link to your cloud's console.")
    ] = False,
    fresh: options.Fresh = False,
    from_: options.FromRecording = None,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
) -> None:
    with beginning("starting"):
        from plimsoll.cli.run_volume import live_from, volume_and_run

    volume, named_run = volume_and_run(words, run)
    live = live_from(named_run, from_, policy, scope, fresh=fresh)
    if live is None:
        _show_of_run(volume, named_run, whole=whole)
    else:
        _show_fresh(volume, *live, whole=whole)


def _show_of_run(volume: str, run: Path | None, *, whole: bool) -> None:
    """Prints a volume as a run answered it, and which run that is. No cloud is asked."""
    with beginning("starting"):
        from plimsoll.api.volumes import volume_in_run
        from plimsoll.bootstrap.consoles import console_link
        from plimsoll.reports.terminal.explain import show_record

    record, profile, folder = volume_in_run(volume, run)
    order, console = _read_order(folder), Screen()
    link = None if order is None else console_link(record, order.policy, order.now)
    show_record(console, record, profile, link, _last_seconds(record), whole=whole)
    when = "" if order is None else f" of {order.now:%Y-%m-%d %H:%M} UTC"
    console.say(f"From the run {folder}{when}. {'' if whole else _MORE}To ask the cloud now, add --fresh.", "dim")


def _read_order(folder: Path) -> Order | None:
    """The order of the run; None where another version wrote it that this one cannot go on with."""
    from plimsoll.orders import read_order

    try:
        return read_order(folder)
    except BadInput:
        return None


def _show_fresh(volume: str, scope: Scope, policy: Policy, from_: Path | None, *, whole: bool) -> None:
    """Prints a volume as its cloud, or a recording, answers by the minute."""
    with beginning("starting"):
        from plimsoll.api.volumes import read_volume
        from plimsoll.bootstrap.consoles import console_link
        from plimsoll.reports.answers import record_of
        from plimsoll.reports.terminal.explain import show_explanation

    console = Screen()
    with console.status("reading the volume and its host" if from_ is None else "reading the recording"):
        answer, demand, now = read_volume(volume, scope, policy, from_=from_)
    record = record_of(answer.recommendation, answer.change, provider=answer.target.provider)
    link = console_link(record, policy, now)
    show_explanation(console, answer.recommendation, demand, record, link, _last_seconds(record), whole=whole)
    if not whole:
        console.say(_MORE.strip(), "dim")


def _last_seconds(record: RecommendationRecord) -> SecondsSeen | None:
    """The seconds that a probe saw of the volume last; None if it was never probed."""
    from plimsoll.bootstrap.books import probe_book
    from plimsoll.settings import Settings

    line = probe_book(Settings.from_environment()).latest(record.volume_id, record.account, record.region)
    return None if line is None else line.seen
