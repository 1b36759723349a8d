"""Show the newest run in a browser, with each volume's past.

Also while its audit goes on. It only reads. Prometheus can scrape /metrics.
"""

import ipaddress
import socket
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput

_LISTED: Final = ("Begin with", 5)


def serve_command(
    run: options.RunFolder = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Any but this machine's own needs --name and --token-file.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")] = 8642,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST", help="Host name under which others reach this machine; others are refused. Repeatable."
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the token that others give as a password.")
    ] = None,
) -> None:
    import uvicorn

    from plimsoll.api.runs import run_folder
    from plimsoll.serving.app import application
    from plimsoll.serving.door import terms_for
    from plimsoll.serving.live_report import LiveReport

    terms = terms_for(is_local=_is_loopback(host), names=name or (), token_file=token_file)
    folder, console = None if run is None else run_folder(run), Screen()
    with _listening(host, port) as listening, TemporaryDirectory(prefix="plimsoll-serve-") as place:
        address = f"[{host}]" if ":" in host else host
        console.say(
            f"http://{address}:{listening.getsockname()[1]}/ shows the {'run' if run else 'newest run'}.", "bold"
        )
        console.say("It only reads. End it with Ctrl-C.", "dim")
        if terms.token is not None:
            sentence = (
                f"It answers to {', '.join(terms.names)}, and asks for the token as a password. The token crosses the "
                "network as it is: put a proxy with TLS before it."
            )
            console.say(sentence, "dim")
        app = application(LiveReport(place=Path(place), run=folder), terms)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        with suppress(KeyboardInterrupt):  # that is how it ends
            uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise BadInput(f"{host} port {port} cannot be listened on ({error}): give another --port or --host.") from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
