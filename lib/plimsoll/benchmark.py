"""The benchmark pipeline: a job run on this machine, its result read, and added to the library of envelopes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from plimsoll.bench.jobs import load_job
from plimsoll.bench.local import Placed, Watch, fio_path, placed, run
from plimsoll.bench.write_places import GIB, check_room, claimed, target_at
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence.envelope import Envelope
from plimsoll.domain.units import MINUTE_S
from plimsoll.domain.volume_types import VolumeType
from plimsoll.envelopes.campaigns import load_campaign
from plimsoll.envelopes.fit import fit_envelope
from plimsoll.envelopes.library import NewCampaign, add_campaign, check_name, to_new_result
from plimsoll.envelopes.reading import read_results


def plan_benchmark(
    path: Path,
    job_name: str,
    *,
    runtime_s: int,
    ramp_s: int,
    file_bytes: int | None,
    max_minutes: float,
    max_gib: float,
) -> Placed:
    """A job on a path that is fit for it. BadInput where it is not, or where the job takes more than the bounds."""
    job = load_job(job_name, runtime_s=runtime_s, ramp_s=ramp_s)
    fio_path()
    one = placed(job, target_at(path), file_bytes=file_bytes)
    if one.seconds > max_minutes * MINUTE_S:
        raise BadInput(
            f"the job {job_name} takes {one.seconds / MINUTE_S:,.1f} minutes, and {max_minutes:g} are allowed: "
            "shorten its sections with --runtime-s, or allow more with --max-minutes."
        )
    if one.taken_bytes > max_gib * GIB:
        raise BadInput(
            f"the job {job_name} writes to {one.taken_bytes / GIB:,.1f} GiB, and {max_gib:g} are allowed: "
            "take smaller files with --file-mib, or allow more with --max-gib."
        )
    check_room(one.target, one.taken_bytes)
    return one


def run_benchmark(
    one: Placed,
    new: NewCampaign,
    folder: Path,
    types: Mapping[str, VolumeType],
    *,
    max_minutes: float,
    watch: Watch,
) -> tuple[Path, Envelope]:
    """Runs a planned job and adds its results to the library's folder as that campaign, which is empty so far. Gives
    the campaign's file and its envelope.

    BadInput before anything runs where the name is taken. NotMeasured where fio gave no result.
    """
    check_name(folder, new.name, types)
    with claimed(one.target):
        output = run(one, limit_s=max_minutes * MINUTE_S, watch=watch)
    results = read_results(output, name="what fio printed")
    measured = replace(
        new,
        tool=results[0].tool,
        tool_version=results[0].tool_version,
        results=tuple(to_new_result(result) for result in results),
    )
    path = add_campaign(folder, measured, types)
    return path, fit_envelope(load_campaign(path).systems[0], types)
