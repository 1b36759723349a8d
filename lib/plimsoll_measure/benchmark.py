"""The benchmark pipeline: a job run on this machine, its result read, and added to the library of envelopes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from plimsoll.envelopes.campaigns import load_campaign
from plimsoll.envelopes.fit import fit_envelope
from plimsoll.model.envelope import Envelope
from plimsoll.model.errors import BadInput
from plimsoll.model.market import VolumeType
from plimsoll.model.units import MINUTE_S
from plimsoll_measure.adding import NewCampaign, add_campaign, check_name, to_new_result
from plimsoll_measure.bench.jobs import load_job
from plimsoll_measure.bench.local import PhaseWatch, PlacedJob, fio_path, place_job, run
from plimsoll_measure.bench.write_places import GIB, check_room, hold_device, target_at
from plimsoll_measure.readers.reading import read_results


def plan_benchmark(
    path: Path,
    job_name: str,
    *,
    runtime_s: int,
    ramp_s: int,
    file_bytes: int | None,
    max_minutes: float,
    max_gib: float,
) -> PlacedJob:
    """A job on a path. Raises BadInput if the path cannot take it, or if it exceeds the bounds."""
    job = load_job(job_name, runtime_s=runtime_s, ramp_s=ramp_s)
    fio_path()
    placed_job = place_job(job, target_at(path), file_bytes=file_bytes)
    if placed_job.seconds > max_minutes * MINUTE_S:
        raise BadInput(
            f"the job {job_name} takes {placed_job.seconds / MINUTE_S:,.1f} minutes, and {max_minutes:g} are allowed: "
            "shorten its sections with --runtime-s, or allow more with --max-minutes."
        )
    if placed_job.taken_bytes > max_gib * GIB:
        raise BadInput(
            f"the job {job_name} writes to {placed_job.taken_bytes / GIB:,.1f} GiB, and {max_gib:g} are allowed: "
            "take smaller files with --file-mib, or allow more with --max-gib."
        )
    check_room(placed_job.target, placed_job.taken_bytes)
    return placed_job


def run_benchmark(
    placed_job: PlacedJob,
    new: NewCampaign,
    folder: Path,
    types: Mapping[str, VolumeType],
    *,
    max_minutes: float,
    watch: PhaseWatch,
) -> tuple[Path, Envelope]:
    """Runs a planned job and adds its results to the library's folder as a campaign.

    `new` is that campaign without results. Returns the campaign's file and its envelope. Raises BadInput before
    anything runs if the name is taken, and NotMeasured if fio gave no result.
    """
    check_name(folder, new.name, types)
    with hold_device(placed_job.target):
        output = run(placed_job, limit_s=max_minutes * MINUTE_S, watch=watch)
    results = read_results(output, name="what fio printed")
    measured = replace(
        new,
        tool=results[0].tool,
        tool_version=results[0].tool_version,
        results=tuple(to_new_result(result) for result in results),
    )
    path = add_campaign(folder, measured, types)
    return path, fit_envelope(load_campaign(path).systems[0], types)
