"""Files of fio and sysbench, imported as a campaign of the library."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.published import cloud_of, types_by_cloud
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec
from plimsoll_measure.adding import UNKNOWN_TYPE, NewCampaign, add_campaign, to_new_result
from plimsoll_measure.cli.measured_volumes import check_measured_place, host_from, spec_from
from plimsoll_measure.cli.options import MeasuredVolumeOptions
from plimsoll_measure.readers.fio_logs import is_log, with_logs
from plimsoll_measure.readers.reading import decode_text, read_output
from plimsoll_measure.readers.results import Output, without_repeats


def read_campaign(
    files: Sequence[Path], name: str, measured: MeasuredVolumeOptions, *, measured_on: str | None
) -> NewCampaign:
    """The campaign that these files hold. BadInput if one cannot be read, or none measures storage."""
    spec, volumes, host_type = spec_from(measured), measured.volumes, measured.host_type
    provider = measured.provider or cloud_of(spec.type) or AWS
    check_measured_place(spec, provider, measured)
    logs = {path.name: _text(path) for path in files if is_log(path.name)}
    output = sum((read_output(_text(path), name=str(path)) for path in files if not is_log(path.name)), Output())
    if not output.results:
        raise BadInput(f"nothing in {_names(files)} measures storage, so there is no envelope to add.")
    on = f" on {host_type}" if host_type else ""
    return NewCampaign(
        name=name,
        title=f"{_title(spec, volumes)}{on}",
        source=f"imported from {_names(files)}",
        tool=output.results[0].tool,
        tool_version=output.results[0].tool_version,
        measured_on=measured_on,
        imported_on=clock().now().date(),
        provider=provider,
        account=measured.account,
        region=measured.region,
        spec=spec,
        volumes=volumes,
        host=host_from(provider, host_type) if host_type else None,
        results=tuple(to_new_result(result) for result in with_logs(without_repeats(output.results), logs)),
        profiles=output.profiles,
    )


def add_imported(campaign: NewCampaign, folder: Path) -> Path:
    """Adds a campaign to the library in a folder, judged by its cloud's types; its file. BadInput if it is none."""
    return add_campaign(folder, campaign, types_by_cloud().get(campaign.provider, {}))


def _text(path: Path) -> str:
    try:
        return decode_text(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error


def _names(files: Sequence[Path]) -> str:
    return ", ".join(path.name for path in files)


def _title(spec: VolumeSpec, volumes: int) -> str:
    spec_text = str(spec) if spec.size_gib else str(spec).replace(" 0 GiB", "")
    kind = "a volume of unknown type" if spec.type == UNKNOWN_TYPE else spec_text
    return f"{volumes} x {kind}" if volumes > 1 else kind
