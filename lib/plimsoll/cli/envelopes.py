"""`plimsoll envelopes`: what was measured, by whom, and what it says."""

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.options import MeasuredVolumeOptions
from plimsoll.cli.screen import Screen
from plimsoll.clouds.published import cloud_of, published_host, types_by_cloud
from plimsoll.clouds.registry import AWS
from plimsoll.decide import evidence as same_configuration
from plimsoll.decide.evidence import best_grade
from plimsoll.envelopes.campaigns import HostEntry
from plimsoll.envelopes.fio_logs import is_log, with_logs
from plimsoll.envelopes.library import UNKNOWN_TYPE, NewCampaign, add_campaign, to_new_result
from plimsoll.envelopes.reading import decode_text, read_output
from plimsoll.envelopes.results import Output, without_repeats
from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import Envelope
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.envelope_json import as_data
from plimsoll.reports.terminal import envelopes as report
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings


def list_all(*, as_json: bool) -> None:
    """Prints every measured envelope with its roofs."""
    library = envelope_library(Settings.from_environment().measured_dir)
    envelopes = list(library.envelopes.values())
    if as_json:
        typer.echo(json.dumps([as_data(envelope) for envelope in envelopes], indent=2, ensure_ascii=False))
        return
    today, age = clock().now().date(), Policy().evidence_max_age_days
    screen = Screen()
    screen.print(
        report.list_table(
            envelopes,
            {envelope.name: library.campaign_of(envelope.name).name for envelope in envelopes},
            {envelope.name: best_grade(envelope, today, age) for envelope in envelopes},
            screen.width,
        )
    )


def show_one(name: str, *, as_json: bool) -> None:
    """Prints one envelope: its roofs, what cut them, and every figure as its source printed it."""
    library = envelope_library(Settings.from_environment().measured_dir)
    envelope, campaign = library.get(name), library.campaign_of(name)
    beside = [
        *campaign.profiles.get(envelope.host_type or "", ()),
        *(pair for other in campaign.published for pair in other),
    ]
    others = same_configuration.find_same_configuration(envelope, library.envelopes.values())
    if as_json:
        alike = {other.envelope.name: {side.value: other.difference(side) for side in Resource} for other in others}
        data = {
            **as_data(envelope),
            "source": campaign.source,
            "beside": dict(beside),
            "same_configuration_differs_by": alike,
        }
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    Screen().print(report.show(envelope, f"{campaign.title} ({envelope.source_names})", beside, others))


def show_comparison(names: Sequence[str], *, as_json: bool) -> None:
    """Prints envelopes side by side over mode and I/O size."""
    envelopes = compared_envelopes(names)
    if as_json:
        typer.echo(json.dumps([as_data(envelope) for envelope in envelopes], indent=2, ensure_ascii=False))
        return
    console = Screen()
    console.print(report.compare(envelopes, console.width))


def compared_envelopes(names: Sequence[str]) -> list[Envelope]:
    """The envelopes of these names; BadInput where one is unknown or there are not two."""
    if len(names) < 2:
        raise BadInput("a comparison needs two envelopes or more: plimsoll envelopes compare A B")
    library = envelope_library(Settings.from_environment().measured_dir)
    return [library.get(name) for name in names]


def import_files(files: Sequence[Path], name: str, measured: MeasuredVolumeOptions, *, measured_on: str | None) -> None:
    """Reads every file, adds one campaign of what they hold, and prints the envelope that fits it."""
    spec, volumes, host_type = spec_from(measured), measured.volumes, measured.host_type
    provider = measured.provider or cloud_of(spec.type) or AWS
    check_place(spec, provider, measured)
    logs = {path.name: _text(path) for path in files if is_log(path.name)}
    output = sum((read_output(_text(path), name=str(path)) for path in files if not is_log(path.name)), Output())
    if not output.results:
        raise BadInput(f"nothing in {_names(files)} measures storage, so there is no envelope to add.")
    on = f" on {host_type}" if host_type else ""
    new = NewCampaign(
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
    folder = Settings.from_environment().measured_dir
    path = add_campaign(folder, new, types_by_cloud().get(provider, {}))
    typer.echo(f"{count_of(len(new.results), 'result')} added in {path}.\n")
    _say_what_counts(name)
    show_one(name, as_json=False)


def _say_what_counts(name: str) -> None:
    """Prints what each result of an envelope counts for, and why."""
    console = Screen()
    for line in report.counting(envelope_library(Settings.from_environment().measured_dir).get(name).measurements):
        console.print(line, soft_wrap=True)
    console.print()


def spec_from(measured: MeasuredVolumeOptions) -> VolumeSpec:
    """The volume that was measured. BadInput for figures without a type."""
    if measured.type_ is None and (measured.size_gib, measured.iops, measured.throughput_mib_s) != (None, None, None):
        raise BadInput("a size, IOPS or throughput mean nothing without the volume's type: add --type, such as gp3.")
    return VolumeSpec(
        type=measured.type_ or UNKNOWN_TYPE,
        size_gib=measured.size_gib or 0,
        iops=measured.iops,
        throughput_mib_s=measured.throughput_mib_s,
    )


def host_from(provider: str, host_type: str) -> HostEntry:
    """The host that was measured on, with what is published of its type, where that is known."""
    published = published_host(provider, host_type)
    if published is None:
        return HostEntry(type=host_type)
    return HostEntry(
        type=host_type,
        baseline_iops=published.limits.baseline_iops,
        maximum_iops=published.limits.maximum_iops,
        baseline_throughput_mib_s=published.limits.baseline_throughput_mib_s,
        maximum_throughput_mib_s=published.limits.maximum_throughput_mib_s,
        source=published.source,
    )


def check_place(spec: VolumeSpec, provider: str, measured: MeasuredVolumeOptions) -> None:
    """BadInput for a type that its cloud does not have, or for half a place."""
    types = types_by_cloud().get(provider)
    if types is not None and spec.type not in {UNKNOWN_TYPE, *types}:
        raise BadInput(
            f"there is no volume type {spec.type} in {provider}: --type is one of {', '.join(sorted(types))}."
        )
    if (measured.account is None) != (measured.region is None):
        raise BadInput("--account and --region together say where it was measured: give both or neither.")


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
