"""The door of `plimsoll serve`: who is let in, by the name that is called and by the token."""

import base64
import binascii
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from plimsoll.model.errors import BadInput
from plimsoll.serving.volume_page import message_page

LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
"""The names of this machine for itself."""

LEAST_TOKEN_CHARS: Final = 20

_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorTerms:
    """The names that are answered to, and the token that must come along. Without a token none is asked for."""

    names: Sequence[str] = LOCAL_NAMES
    token: str | None = None

    def has_name(self, host: str) -> bool:
        """True if a Host header has one of the names. A page of another site calls this machine by its own name."""
        match = _HOST.fullmatch(host.strip().lower())
        return match is not None and match["name"] in self.names

    def lets_in(self, authorization: str) -> bool:
        """True if an Authorization header has the token, as a password (Basic) or by itself (Bearer)."""
        if self.token is None:
            return True
        return secrets.compare_digest(_brought_token(authorization).encode(), self.token.encode())


class Door:
    """A door before an application, which lets browsers in that keep to the terms. The name is checked first."""

    def __init__(self, app: ASGIApp, terms: DoorTerms) -> None:
        self._app, self._terms = app, terms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers with a refusal."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._terms.has_name(headers.get("host", "")):
            await PlainTextResponse("This page is not called by that name.", status_code=400)(scope, receive, send)
        elif not self._terms.lets_in(headers.get("authorization", "")):
            page = message_page("A token is needed", "Give the token as the password; the name does not matter.")
            asked = {"WWW-Authenticate": 'Basic realm="Plimsoll", charset="UTF-8"'}
            await HTMLResponse(page, status_code=401, headers=asked)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def terms_for(*, is_local: bool, names: Sequence[str], token_file: Path | None) -> DoorTerms:
    """The terms of a page. Raises BadInput if others than this machine could read it without a name and a token."""
    token = None if token_file is None else _token_in(token_file)
    named = tuple(_check_name(name.lower()) for name in names)
    if is_local and not named:
        return DoorTerms(token=token)
    if not named or token is None:
        raise BadInput(
            "others could read every answer: give --name with the name that they use for this machine, such as "
            "storage.example.org, and --token-file with a file that holds a token, for example from "
            "`openssl rand -hex 32`. Without --host and --name only this machine is answered."
        )
    return DoorTerms(names=(*named, *LOCAL_NAMES) if is_local else named, token=token)


def _check_name(name: str) -> str:
    match = _HOST.fullmatch(name)
    if match is None or match["name"] != name:
        raise BadInput(f"--name {name} is no name of a machine: write one such as storage.example.org, without a port.")
    return name


def _token_in(path: Path) -> str:
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({type(error).__name__}): name a file that holds a token.") from error
    if len(token) < LEAST_TOKEN_CHARS:
        raise BadInput(f"the token in {path} has {len(token)} characters, of {LEAST_TOKEN_CHARS} at least.")
    return token


def _brought_token(authorization: str) -> str:
    """The token in an Authorization header; empty if there is none."""
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value.strip(), validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
