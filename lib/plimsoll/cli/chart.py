"""Draw a volume's demand, and rooflines, as SVG or PNG."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.plain_help import PlainTyper
from plimsoll.model.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.cli.run_volume import LiveSource
    from plimsoll.envelopes.library import EnvelopeLibrary
    from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord

    RecordAndDemand = tuple[RecommendationRecord, DemandProfileRecord]
    """A recommendation, and the demand that it answers."""

_LISTED: Final = ("Read a run", 6)

chart_command = PlainTyper()


@chart_command.command(name="demand")
def chart_demand(
    words: options.VolumeWords,
    *,
    picture: options.PictureOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
    fresh: options.Fresh = False,
    from_: options.FromRecording = None,
) -> None:
    """Draw a volume's demand over time with its ceilings: of a run, or read by the minute as `explain` does."""
    from plimsoll.cli.picture_files import write_picture
    from plimsoll.cli.run_volume import live_from, volume_and_run
    from plimsoll.reports.charts.demand import demand_picture

    volume, run = volume_and_run(words, picture.run)
    record, profile = _read_volume(volume, live_from(run, from_, policy, scope, fresh=fresh), run)
    write_picture(demand_picture(record, profile), profile, picture, name=volume)


@chart_command.command(name="roofline")
def chart_roofline(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="A volume's id or name, names of envelopes, or both; a run too.",
        ),
    ],
    *,
    picture: options.PictureOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
    fresh: options.Fresh = False,
    from_: options.FromRecording = None,
) -> None:
    """Draw demand under its ceilings over I/O size and IOPS, measured envelopes, or demand over envelopes."""
    from plimsoll.bootstrap.envelopes import envelope_library
    from plimsoll.cli.picture_files import write_picture
    from plimsoll.cli.run_volume import live_from, names_and_run
    from plimsoll.reports.charts.roofline import envelope_picture, roofline_picture
    from plimsoll.settings import Settings

    drawn_names, run = names_and_run(names, picture.run)
    live = live_from(run, from_, policy, scope, fresh=fresh)
    library = envelope_library(Settings.from_environment().measured_dir)
    envelopes = [library.envelopes[name] for name in drawn_names if name in library.envelopes]
    volumes = [name for name in drawn_names if name not in library.envelopes]
    if len(volumes) > 1:
        raise BadInput(
            f"one roofline shows one volume and any number of envelopes; no envelopes are: {', '.join(volumes)}."
        )
    asked = _read_volume_or_envelope(volumes[0], live, run, library) if volumes else None
    if asked is not None and not envelopes:
        measured = library.envelopes.get(asked[0].evidence.envelope or "") if asked[0].evidence else None
        drawn = roofline_picture(*asked, measured)
    else:
        drawn = envelope_picture(envelopes, asked)
    write_picture(drawn, asked[1] if asked else None, picture, name=drawn_names[0])


def _read_volume(volume: str, live: LiveSource | None, run: Path | None) -> RecordAndDemand:
    """A volume's record and profile; BadInput, with the nearest, where there is none."""
    from plimsoll.api.volumes import explain

    if live is None:
        explanation = explain(volume, run)
    else:
        scope, policy, recording = live
        explanation = explain(volume, scope=scope, policy=policy, recording=recording)
    if explanation.demand is None:
        raise BadInput(f"no metrics of {volume} were read, so that there is no demand to draw.")
    return explanation.recommendation, explanation.demand


def _read_volume_or_envelope(
    name: str, live: LiveSource | None, run: Path | None, library: EnvelopeLibrary
) -> RecordAndDemand:
    try:
        return _read_volume(name, live, run)
    except BadInput as error:
        near = difflib.get_close_matches(name, library.envelopes, n=1, cutoff=0.6)
        if not near:
            raise
        raise BadInput(f"there is no envelope {name}: did you mean {near[0]}?") from error
