"""The page's style sheets, scripts and templates, which are files of this package."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from plimsoll.reports.printable import printable

STYLES: Final = ("page.css", "fleet.css", "volume.css", "print.css")
SCRIPTS: Final = ("dom.js", "figures.js", "blocks.js", "place.js", "copy.js", "take.js",
                  "groups.js", "table.js", "charts.js", "frontier.js",
                  "volume.js",
                  "theme.js", "main.js")  # fmt: skip
"""In the order in which they are joined: each may use what those before it define."""


@cache
def style() -> str:
    """All style sheets as one."""
    return "".join(_text("styles", name) for name in STYLES)


@cache
def script() -> str:
    """All scripts as one that defines nothing outside itself."""
    return "(() => {\n'use strict';\n" + "".join(_text("scripts", name) for name in SCRIPTS) + "})();\n"


@cache
def first_script() -> str:
    """The script that runs before the page is drawn."""
    return _text("scripts", "early.js")


@cache
def live_script() -> str:
    """The script that a served report has besides."""
    return _text("scripts", "live.js")


def vega(name: str) -> str:
    """A file that pictures are drawn with; `make pictures` makes it."""
    return _text("vega", name)


@cache
def specs() -> dict[str, dict[str, Any]]:
    """The Vega-Lite specs of every picture by kind and theme, without data, title and background.

    They are made for `WIDTH_PX`; in the reader's browser they become as wide as there is room.
    """
    charts: dict[str, dict[str, Any]] = json.loads(vega("specs.json"))
    return charts


@cache
def drawing_script() -> str:
    """The script that draws specs in a browser; its own names stay inside."""
    return f"(() => {{\n{vega('vega.js')}\n}})();\n"


def hash_of(script_text: str) -> str:
    """A script as a content security policy allows it."""
    return f"'sha256-{b64encode(sha256(script_text.encode()).digest()).decode('ascii')}'"


def templates_of(package: str) -> Environment:
    """The templates of a package's folder `templates`."""
    return Environment(
        autoescape=True,
        finalize=_show_value,
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _show_value(value: Any) -> Any:
    """A value as a template shows it; what is marked as markup is ours."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text(folder: str, name: str) -> str:
    return (files(__package__) / folder / name).read_text(encoding="utf-8")
