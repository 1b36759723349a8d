"""`plimsoll explain`: one volume on one screen."""

from typing import Annotated

import typer
from rich.console import Console

from plimsoll.audit import explain as explained
from plimsoll.bootstrap import aws_world, clock, console_link, recorded_world
from plimsoll.cli import options
from plimsoll.cli.audit import LEDGER
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.recording import Recording
from plimsoll.domain.errors import BadInput, Unexpected
from plimsoll.outcomes import FailedVolume, Skipped
from plimsoll.reports.explain import show_explanation
from plimsoll.settings import Settings


def explain(
    volume: Annotated[str, typer.Argument(help="Volume id, such as vol-0123456789abcdef0.")],
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    region: options.Regions = None,
    policy: options.PolicyPath = None,
    set_: options.Settings_ = None,
    prices: options.PriceFile = None,
    from_: options.FromFile = None,
) -> None:
    """Show one volume's demand, ceilings, every offer and why not, the evidence, and how to change it."""
    settings = Settings()
    chosen = options.policy_from(policy, set_)
    now = clock().now()
    if from_ is not None:
        recording = Recording.open(from_)
        world, now = recorded_world(recording, settings), recording.now
    else:
        scope = options.scope_from(profile, role_arn, external_id, region, prices)
        ledger = Ledger.at(settings.runs_dir / LEDGER)
        world = aws_world(scope, settings, today=now.date(), ledger=ledger)
    found = explained(world, volume, chosen, now)
    if found is None:
        raise BadInput(f"there is no volume {volume} in these accounts and regions: check --profile and --region.")
    outcome = found.outcome
    if isinstance(outcome, FailedVolume):
        raise Unexpected(f"{volume}: {outcome.reason}")
    if isinstance(outcome, Skipped):
        raise BadInput(f"{volume} is left out: {outcome.reason}.")
    link = console_link(outcome.recommendation.volume, chosen, now)
    show_explanation(Console(), outcome.recommendation, found.demand, outcome.change, link)
