"""`plimsoll explain`: one volume on one screen."""

from pathlib import Path

from rich.console import Console

from plimsoll.audit import explain as explained
from plimsoll.bootstrap import Scope, aws_world, change_ledger, clock, console_link, recorded_world
from plimsoll.clouds.recording import Recording
from plimsoll.domain.errors import BadInput, Unexpected
from plimsoll.domain.policy import Policy
from plimsoll.outcomes import FailedVolume, Skipped
from plimsoll.reports.explain import show_explanation
from plimsoll.settings import Settings


def explain_volume(volume: str, scope: Scope, policy: Policy, *, from_: Path | None) -> None:
    """Prints one volume's explanation, from its cloud or from a recording."""
    settings = Settings.of_environment()
    now = clock().now()
    if from_ is not None:
        recording = Recording.open(from_)
        world, now = recorded_world(recording, settings), recording.now
    else:
        ledger = change_ledger(settings)
        world = aws_world(scope, settings, today=now.date(), ledger=ledger)
    found = explained(world, volume, policy, now)
    if found is None:
        raise BadInput(f"there is no volume {volume} in these accounts and regions: check --profile and --region.")
    outcome = found.outcome
    if isinstance(outcome, FailedVolume):
        raise Unexpected(f"{volume}: {outcome.reason}")
    if isinstance(outcome, Skipped):
        raise BadInput(f"{volume} is left out: {outcome.reason}.")
    found_volume = outcome.recommendation.volume
    link = console_link(found_volume.region, found_volume.id, policy, now)
    show_explanation(Console(), outcome.recommendation, found.demand, outcome.change, link)
