"""Commands on simulated clouds."""

from typing import Annotated

import typer

from plimsoll.cli import options


def demo_command(
    cloud: Annotated[
        options.SimulatedCloud,
        typer.Option(parser=options.simulated_named, metavar="aws|google|both", help="What is simulated."),
    ] = options.SimulatedCloud.AWS,
    volumes: options.SimulatedVolumes = None,
    seed: options.Seed = 1,
) -> None:
    """Audit simulated accounts of AWS or projects of Google Cloud, or both: no cloud, no Docker, no configuration."""
    from plimsoll.cli.screen import beginning

    with beginning("starting"):
        from plimsoll.cli.demo import audit_simulated

    both = options.SimulatedCloud.BOTH
    clouds = [
        str(simulated) for simulated in options.SimulatedCloud if simulated is not both and cloud in {simulated, both}
    ]
    audit_simulated(clouds, volumes, seed)


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
    """Run a simulated cloud on loopback until Ctrl-C, and print how to point a tool at it."""
    from plimsoll.cli.simulate import serve_cloud

    serve_cloud(volumes, seed, port, google=cloud is options.SimulatedCloud.GOOGLE)
