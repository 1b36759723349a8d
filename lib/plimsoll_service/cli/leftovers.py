"""List what is left of a deployed service in an account and region, and what removes it."""

import re
from typing import Annotated, Final

import typer

from plimsoll.cli.exit_codes import EXIT_OVER, PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput

_LISTED: Final = ("Measure", 9)


def leftovers_command(
    *,
    stage: Annotated[str, typer.Option(help="The deployment, as in its setting `stage`.")] = "main",
    region: Annotated[str | None, typer.Option(help="Where it was deployed. Default: the credentials' region.")] = None,
    profile: Annotated[str | None, typer.Option(help="The profile of the credentials.")] = None,
) -> None:
    from plimsoll.clouds.aws.sessions import Credential, Sessions
    from plimsoll.settings import Settings
    from plimsoll_service.bootstrap.leftovers import find_leftovers

    if not re.fullmatch("[a-z][a-z0-9-]*", stage):
        raise BadInput(f"--stage {stage}: a stage is small letters, digits and hyphens, such as main.")
    settings, console = Settings.from_environment(), Screen(highlight=True)
    sessions = Sessions(attempts=settings.max_attempts, connections=settings.parallel_calls)
    sessions.sign_in([Credential(profile=profile)])
    for failed in sessions.failed:
        raise failed.error
    ((account, session),) = sessions.by_account.items()
    place = region or session.region_name
    if place is None:
        raise BadInput("say where the service was deployed: --region eu-west-1.")
    leftovers = list(find_leftovers(lambda service: sessions.client(service, account, place), stage))
    for leftover in leftovers:
        console.print(leftover.text, soft_wrap=True)
    if any(leftover.error is not None for leftover in leftovers):
        raise typer.Exit(PARTIAL)
    if leftovers:
        raise typer.Exit(EXIT_OVER)
    console.print(f"nothing is left of plimsoll-{stage} in {account}/{place}")
