"""Run a simulated cloud on loopback until Ctrl-C, and print how to point a tool at it."""

import threading
from collections.abc import Mapping
from typing import Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli import options
from plimsoll.cli.screen import Screen

_LISTED: Final = ("Try it", 2)


def simulate_command(
    cloud: Annotated[
        options.SimulatedCloud,
        typer.Option(
            parser=options.one_simulated_named,
            metavar="aws|google",
            help="An organization of AWS (aws), or projects of Google Cloud (google).",
        ),
    ] = options.SimulatedCloud.AWS,
    volumes: options.SimulatedVolumes = None,
    seed: options.Seed = 1,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1 (google: of HTTP). Default: a free one.")] = 0,
) -> None:
    from plimsoll.cli.simulated_clouds import organization, projects

    if cloud is options.SimulatedCloud.GOOGLE:
        with projects(clock().now(), volumes, seed, port) as google:
            named = " ".join(f"--project {project}" for project in google.projects)
            what = f"{len(google.fleet.volumes)} disks in {len(google.projects)} projects"
            exports = {**google.environment, **google.clock_environment}
            _wait(what, exports, f"all of them: plimsoll audit --cloud google {named}")
        return
    with organization(clock().now(), volumes, seed, port) as aws:
        named = " ".join(f"--role-arn {arn}" for arn in aws.role_arns)
        what = f"{len(aws.fleet.volumes)} volumes in {len(aws.fleet.accounts)} accounts"
        _wait(what, {**aws.environment, **aws.clock_environment}, f"the other accounts: plimsoll audit {named}")


def _wait(what: str, environment: Mapping[str, str], audit: str) -> None:
    """Prints how to point a tool at what is served, and waits for Ctrl-C."""
    exports = [f"export {name}={value}" for name, value in environment.items()]
    console = Screen()
    console.print("\n".join([f"# {what}", *exports, f"# {audit}", "# Ctrl-C ends it"]), soft_wrap=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        console.print("ended")
