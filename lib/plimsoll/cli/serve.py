"""`plimsoll serve`: the newest run in a browser, for as long as the command runs."""

import ipaddress
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from plimsoll.api.runs import run_folder
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput
from plimsoll.serving.app import application
from plimsoll.serving.door import terms_for
from plimsoll.serving.live_report import LiveReport


def serve_run(run: Path | None, host: str, port: int, names: Sequence[str] = (), token: Path | None = None) -> None:
    """Serves a run, or the newest one at any time, until Ctrl-C. BadInput where the address cannot be used, or where
    others could read it without a token."""
    terms = terms_for(is_local=_is_loopback(host), names=names, token_file=token)
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
