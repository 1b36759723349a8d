"""Pictures as SVG and PNG files."""

import re
from pathlib import Path
from typing import Final

import typer

from plimsoll.cli.options import PictureOptions
from plimsoll.files import atomic_path
from plimsoll.reports.charts.pictures import Picture
from plimsoll.reports.charts.render import to_png, to_svg, vega_spec
from plimsoll.reports.charts.theme import THEMES
from plimsoll.reports.record import DemandProfileRecord

_NOT_IN_FILES: Final = re.compile(r"[^\w.-]")


def write_picture(picture: Picture, profile: DemandProfileRecord | None, options: PictureOptions, *, name: str) -> None:
    """Draws to the file that was named, else to one named for what is drawn, and prints its path."""
    path = options.out or Path(f"{_NOT_IN_FILES.sub('_', name)}-{picture.kind}.svg")
    spec = vega_spec(picture, profile, THEMES[options.theme], options.width)
    drawn = to_png(spec, options.scale or 1) if options.is_png else to_svg(spec).encode()
    with atomic_path(path) as beside:
        beside.write_bytes(drawn)
    typer.echo(path)
