"""`plimsoll explain`: one volume, as a run knows it, or read from its cloud by the minute."""

from pathlib import Path

from plimsoll.api.volumes import read_volume, volume_in_run
from plimsoll.bootstrap.books import probe_book
from plimsoll.bootstrap.consoles import console_link
from plimsoll.cli.screen import Screen
from plimsoll.clouds.scope import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.domain.metrics.seconds_seen import SecondsSeen
from plimsoll.domain.policy import Policy
from plimsoll.orders import Order, read_order
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.terminal.explain import show_explanation, show_record
from plimsoll.settings import Settings


def explain_from_run(volume: str, run: Path | None) -> None:
    """Prints a volume as a run answered it, and which run that is. No cloud is asked."""
    record, profile, folder = volume_in_run(volume, run)
    order, console = _order(folder), Screen()
    link = None if order is None else console_link(record, order.policy, order.now)
    show_record(console, record, profile, link, _last_seconds(record))
    when = "" if order is None else f" of {order.now:%Y-%m-%d %H:%M} UTC"
    console.say(f"From the run {folder}{when}. To ask the cloud now, add --fresh.", "dim")


def _order(folder: Path) -> Order | None:
    """The order of the run; None where another version wrote it that this one cannot go on with."""
    try:
        return read_order(folder)
    except BadInput:
        return None


def explain_fresh(volume: str, scope: Scope, policy: Policy, from_: Path | None) -> None:
    """Prints a volume as its cloud, or a recording, answers by the minute."""
    console = Screen()
    with console.status("reading the volume and its host" if from_ is None else "reading the recording"):
        answer, demand, now = read_volume(volume, scope, policy, from_=from_)
    record = record_of(answer.recommendation, answer.change, provider=answer.target.provider)
    link = console_link(record, policy, now)
    show_explanation(console, answer.recommendation, demand, record, link, _last_seconds(record))


def _last_seconds(record: RecommendationRecord) -> SecondsSeen | None:
    """The seconds that a probe saw of the volume last; None if it was never probed."""
    line = probe_book(Settings.from_environment()).latest(record.volume_id, record.account, record.region)
    return None if line is None else line.seen
