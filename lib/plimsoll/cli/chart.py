"""`plimsoll chart`, and `plimsoll envelopes compare --chart`: pictures as SVG and PNG files."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from plimsoll.bootstrap import Scope, envelope_library
from plimsoll.cli.envelopes import compared
from plimsoll.cli.explain import read_volume
from plimsoll.cli.option_values import policy_from, scope_from
from plimsoll.cli.options import PictureOptions, PolicyOptions, ScopeOptions
from plimsoll.cli.run_folder import run_folder
from plimsoll.domain.errors import BadInput
from plimsoll.domain.policy import Policy
from plimsoll.envelopes.library import EnvelopeLibrary
from plimsoll.reports.charts.comparison import comparison_picture
from plimsoll.reports.charts.demand import demand_picture
from plimsoll.reports.charts.picture import Picture
from plimsoll.reports.charts.render import spec_of, to_png, to_svg
from plimsoll.reports.charts.roofline import envelope_picture, roofline_picture
from plimsoll.reports.charts.theme import THEMES, WIDTH_PX, ThemeName
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import find_profile, find_record, full_name, stream_records, stream_unanswered
from plimsoll.reports.to_record import profile_record, record_of
from plimsoll.settings import Settings
from plimsoll.writing import whole

COMPARISON_PX: Final = 1100

_NOT_IN_FILES: Final = re.compile(r"[^\w.-]")

Asked = tuple[RecommendationRecord, DemandProfileRecord]
"""What a volume was asked for, and what is recommended for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The file that a picture is drawn to (None: one named for it, in the working directory), and how.

    BadInput for a file that is neither .svg nor .png, or a scale without a PNG.
    """

    out: Path | None = None
    theme: ThemeName = ThemeName.LIGHT
    width: int = WIDTH_PX
    scale: float | None = None

    def __post_init__(self) -> None:
        if self.out is not None and self.out.suffix.lower() not in {".svg", ".png"}:
            raise BadInput(f"{self.out}: a chart is drawn to a file that ends in .svg or .png.")
        if self.scale is not None and not self._is_png:
            raise BadInput("--scale is the size of a PNG's pixels: name the file with --out FILE.png.")

    @classmethod
    def of(cls, given: PictureOptions) -> "Drawing":
        """The drawing that these options name."""
        return cls(out=given.out, theme=given.theme, width=given.width, scale=given.scale)

    @property
    def _is_png(self) -> bool:
        return self.out is not None and self.out.suffix.lower() == ".png"

    def draw(self, picture: Picture, profile: DemandProfileRecord | None, *, name: str) -> Path:
        """Draws the picture, and gives its file; BadInput where it cannot be written."""
        path = self.out or Path(f"{_NOT_IN_FILES.sub('_', name)}-{picture.kind}.svg")
        spec = spec_of(picture, profile, THEMES[self.theme], self.width)
        drawn = to_png(spec, self.scale or 1) if self._is_png else to_svg(spec).encode()
        with whole(path) as beside:
            beside.write_bytes(drawn)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a volume's demand is from: a run (None: the one written last), or a cloud or a recording, by the minute.

    BadInput where both are given.
    """

    run: Path | None = None
    live: tuple[Scope, Policy, Path | None] | None = None

    def __post_init__(self) -> None:
        if self.run is not None and self.live is not None:
            raise BadInput(
                "--run draws what a run has read; options of accounts and policies read anew: give one kind."
            )

    def volume(self, volume: str) -> Asked:
        """A volume's record and profile; BadInput, with the nearest, where there is none."""
        if self.live is not None:
            return _read(volume, *self.live)
        folder = run_folder(self.run)
        record = find_record(folder, volume)
        if record is None:
            raise BadInput(_why_none(folder, volume))
        return record, _observed(volume, find_profile(folder, full_name(record)))


def source_from(picture: PictureOptions, from_: Path | None, policy: PolicyOptions, given: ScopeOptions) -> Source:
    """The source that these options name: a run, unless one of them is about a cloud or a recording."""
    scope = scope_from(given, policy.prices)
    if not any((from_, policy.policy, policy.set_)) and scope == Scope():
        return Source(run=picture.run)
    return Source(run=picture.run, live=(scope, policy_from(policy), from_))


def draw_demand(volume: str, source: Source, drawing: Drawing) -> None:
    """Draws a volume's demand over time, and prints the file's path."""
    record, profile = source.volume(volume)
    typer.echo(drawing.draw(demand_picture(record, profile), profile, name=volume))


def draw_roofline(names: Sequence[str], source: Source, drawing: Drawing) -> None:
    """Draws a volume's demand under its ceilings, or envelopes, or a volume over envelopes; prints the file's path."""
    library = envelope_library(Settings.of_environment().measured_dir)
    envelopes = [library.envelopes[name] for name in names if name in library.envelopes]
    volumes = [name for name in names if name not in library.envelopes]
    if len(volumes) > 1:
        raise BadInput(
            f"one roofline shows one volume, with any number of envelopes; these are none: {', '.join(volumes)}."
        )
    asked = _volume_or_envelope(volumes[0], source, library) if volumes else None
    if asked is not None and not envelopes:
        measured = library.envelopes.get(asked[0].evidence.envelope or "") if asked[0].evidence else None
        picture = roofline_picture(*asked, measured)
    else:
        picture = envelope_picture(envelopes, asked)
    typer.echo(drawing.draw(picture, asked[1] if asked else None, name=names[0]))


def draw_comparison(names: Sequence[str], out: Path) -> None:
    """Draws envelopes beside each other, and prints the file's path."""
    picture = comparison_picture(compared(names))
    typer.echo(Drawing(out=out, width=COMPARISON_PX).draw(picture, None, name=names[0]))


def _why_none(folder: Path, volume: str) -> str:
    reason = next((one.reason for one in stream_unanswered(folder) if volume in {one.volume_id, full_name(one)}), None)
    if reason is not None:
        return f"{volume} has no recommendation in {folder}: {reason}"
    near = difflib.get_close_matches(volume, [record.volume_id for record in stream_records(folder)], n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else "its recommendations.csv lists those that are in it."
    return f"there is no volume {volume} in {folder}: {hint}"


def _volume_or_envelope(name: str, source: Source, library: EnvelopeLibrary) -> Asked:
    try:
        return source.volume(name)
    except BadInput as error:
        near = difflib.get_close_matches(name, library.envelopes, n=1, cutoff=0.6)
        if not near:
            raise
        raise BadInput(f"there is no envelope {name}: did you mean {near[0]}?") from error


def _read(volume: str, scope: Scope, policy: Policy, from_: Path | None) -> Asked:
    found = read_volume(volume, scope, policy, from_=from_)
    recommendation, profile = found.answer.recommendation, found.answer.profile
    record = None if profile is None else profile_record(recommendation.volume, profile)
    return record_of(recommendation, found.answer.change, provider=found.answer.target.provider), _observed(
        volume, record
    )


def _observed(volume: str, profile: DemandProfileRecord | None) -> DemandProfileRecord:
    if profile is None:
        raise BadInput(f"no metrics of {volume} were read, so that there is no demand to draw.")
    return profile
