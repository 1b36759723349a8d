"""The app's manifest: everything that Slack has to know of it, so that installing it is one paste."""

from importlib.resources import files
from typing import Final
from urllib.parse import urlsplit

from plimsoll.model.errors import BadInput

PLACEHOLDER: Final = "REQUEST_URL"
_SAFE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?=&%")
"""The signs that a URL may hold: nothing that ends a quoted text in YAML."""


def app_manifest(url: str) -> str:
    """The manifest in YAML of an app whose requests go to an https URL. Raises BadInput for any other URL."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or not set(url) <= _SAFE:
        raise BadInput(
            f"{url!r} is no https URL: give the address of the function that answers Slack, as the deployment of the "
            "stack plimsoll-STAGE-slack prints it."
        )
    written = (files("plimsoll_service.slack") / "manifest.yaml").read_text(encoding="utf-8")
    return written.replace(PLACEHOLDER, url)
