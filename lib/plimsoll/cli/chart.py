"""`plimsoll chart`, and `plimsoll envelopes compare --chart`: pictures as SVG and PNG files."""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer

from plimsoll.api.volumes import explain
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.envelopes import compared_envelopes
from plimsoll.cli.options import PictureOptions
from plimsoll.cli.run_volume import LiveSource
from plimsoll.envelopes.library import EnvelopeLibrary
from plimsoll.model.errors import BadInput
from plimsoll.output_files import atomic_path
from plimsoll.reports.charts.comparison import comparison_picture
from plimsoll.reports.charts.demand import demand_picture
from plimsoll.reports.charts.pictures import Picture
from plimsoll.reports.charts.render import to_png, to_svg, vega_spec
from plimsoll.reports.charts.roofline import envelope_picture, roofline_picture
from plimsoll.reports.charts.theme import THEMES
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.settings import Settings

COMPARISON_PX: Final = 1100

_NOT_IN_FILES: Final = re.compile(r"[^\w.-]")

RecordAndDemand = tuple[RecommendationRecord, DemandProfileRecord]
"""What a volume was asked for, and what is recommended for it."""


def draw_demand(volume: str, live: LiveSource | None, options: PictureOptions) -> None:
    """Draws a volume's demand over time, and prints the file's path."""
    record, profile = _volume(volume, live, options)
    _draw(demand_picture(record, profile), profile, options, name=volume)


def draw_roofline(names: Sequence[str], live: LiveSource | None, options: PictureOptions) -> None:
    """Draws a volume's demand under its ceilings, or envelopes, or a volume over envelopes; prints the file's path."""
    library = envelope_library(Settings.from_environment().measured_dir)
    envelopes = [library.envelopes[name] for name in names if name in library.envelopes]
    volumes = [name for name in names if name not in library.envelopes]
    if len(volumes) > 1:
        raise BadInput(
            f"one roofline shows one volume and any number of envelopes; no envelopes are: {', '.join(volumes)}."
        )
    asked = _volume_or_envelope(volumes[0], live, options, library) if volumes else None
    if asked is not None and not envelopes:
        measured = library.envelopes.get(asked[0].evidence.envelope or "") if asked[0].evidence else None
        picture = roofline_picture(*asked, measured)
    else:
        picture = envelope_picture(envelopes, asked)
    _draw(picture, asked[1] if asked else None, options, name=names[0])


def draw_comparison(names: Sequence[str], out: Path) -> None:
    """Draws envelopes beside each other, and prints the file's path."""
    options = PictureOptions(out=out, width=COMPARISON_PX)
    _draw(comparison_picture(compared_envelopes(names)), None, options, name=names[0])


def _draw(picture: Picture, profile: DemandProfileRecord | None, options: PictureOptions, *, name: str) -> None:
    """Draws to the file that was named, else to one named for what is drawn, and prints its path."""
    path = options.out or Path(f"{_NOT_IN_FILES.sub('_', name)}-{picture.kind}.svg")
    spec = vega_spec(picture, profile, THEMES[options.theme], options.width)
    drawn = to_png(spec, options.scale or 1) if options.is_png else to_svg(spec).encode()
    with atomic_path(path) as beside:
        beside.write_bytes(drawn)
    typer.echo(path)


def _volume(volume: str, live: LiveSource | None, options: PictureOptions) -> RecordAndDemand:
    """A volume's record and profile; BadInput, with the nearest, where there is none."""
    if live is None:
        explanation = explain(volume, options.run)
    else:
        scope, policy, recording = live
        explanation = explain(volume, scope=scope, policy=policy, recording=recording)
    return explanation.recommendation, _demand_of(volume, explanation.demand)


def _volume_or_envelope(
    name: str, live: LiveSource | None, options: PictureOptions, library: EnvelopeLibrary
) -> RecordAndDemand:
    try:
        return _volume(name, live, options)
    except BadInput as error:
        near = difflib.get_close_matches(name, library.envelopes, n=1, cutoff=0.6)
        if not near:
            raise
        raise BadInput(f"there is no envelope {name}: did you mean {near[0]}?") from error


def _demand_of(volume: str, profile: DemandProfileRecord | None) -> DemandProfileRecord:
    if profile is None:
        raise BadInput(f"no metrics of {volume} were read, so that there is no demand to draw.")
    return profile
