"""Envelopes in the terminal: the list, one in full, and several side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.domain.envelope import Envelope, Latency, Measurement


def list_table(envelopes: Sequence[Envelope], campaigns: Mapping[str, str]) -> Table:
    """One line an envelope; `campaigns` by envelope name."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("envelope", overflow="fold")
    table.add_column("volume", overflow="fold")
    table.add_column("IOPS", justify="right", no_wrap=True)
    table.add_column("MiB/s", justify="right", no_wrap=True)
    table.add_column("points", justify="right")
    table.add_column("campaign", overflow="fold", style="dim")
    for one in envelopes:
        table.add_row(
            one.name,
            _spec(one),
            roof(one.iops, one.best_iops),
            roof(one.throughput_mib_s, one.best_throughput_mib_s),
            str(len(one.measurements)),
            campaigns[one.name],
        )
    table.caption = "A roof that was never reached is shown as >= the best seen."
    table.caption_justify = "left"
    return table


def show(envelope: Envelope, source: str, profile: Mapping[str, Any] | None) -> Group:
    """Everything about one envelope: its roofs and notes, and each measurement's figures as its source printed them."""
    parts: list[RenderableType] = [
        Text.assemble((envelope.name, "bold"), f"  {_spec(envelope)} on {envelope.host_type or 'an unnamed host'}"),
        Text(f"source: {source}"),
        Text(
            f"roofs: {roof(envelope.iops, envelope.best_iops)} IOPS, "
            f"{roof(envelope.throughput_mib_s, envelope.best_throughput_mib_s)} MiB/s"
        ),
        *(Text(f"- {note}") for note in envelope.notes),
    ]
    for one in envelope.measurements:
        parts += _measurement(one)
    if profile:
        parts.append(Rule(f"profile of the host {envelope.host_type}", align="left", style="dim"))
        parts += [Text(f"{name}: {value}") for name, value in _flat(profile)]
    return Group(*parts)


def compare(envelopes: Sequence[Envelope]) -> Table:
    """The envelopes side by side over mode and I/O size: IOPS, MiB/s and latency of each."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_lines=False)
    table.add_column("mode", no_wrap=True)
    table.add_column("KiB", justify="right", no_wrap=True)
    for one in envelopes:
        table.add_column(one.name, justify="right", overflow="fold")
    shapes = sorted({(m.job.mode, m.job.block_kib) for one in envelopes for m in one.measurements})
    for mode, block_kib in shapes:
        cells = [_cell(one, mode, block_kib) for one in envelopes]
        table.add_row(mode, f"{block_kib:g}", *cells)
    table.add_section()
    roofs = [
        f"{roof(one.iops, one.best_iops)} IOPS\n{roof(one.throughput_mib_s, one.best_throughput_mib_s)} MiB/s"
        for one in envelopes
    ]
    table.add_row("roof", "", *roofs)
    table.caption = "IOPS, MiB/s, and latency: the mean, else p50, else < the edge of the bin that the source names."
    table.caption_justify = "left"
    return table


def as_data(envelope: Envelope) -> dict[str, Any]:
    """An envelope for JSON: what was fitted, and every printed figure."""
    return {
        "name": envelope.name,
        "provider": envelope.provider,
        "type": envelope.spec.type,
        "size_gib": envelope.spec.size_gib or None,
        "provisioned_iops": envelope.spec.iops,
        "provisioned_throughput_mib_s": envelope.spec.throughput_mib_s,
        "volumes": envelope.volumes,
        "host_type": envelope.host_type,
        "iops": envelope.iops,
        "throughput_mib_s": envelope.throughput_mib_s,
        "cut": list(envelope.cut),
        "host_bound": list(envelope.host_bound),
        "notes": list(envelope.notes),
        "measurements": [
            {
                "mode": one.job.mode,
                "block_kib": one.job.block_kib,
                "iops": one.iops,
                "throughput_mib_s": one.throughput_mib_s,
                "printed": dict(one.printed),
            }
            for one in envelope.measurements
        ],
    }


def roof(fitted: float | None, best: float) -> str:
    """A roof, or the best seen where none was reached."""
    return (
        f">= {best:,.4g}"
        if fitted is None and best < 100
        else f">= {best:,.0f}"
        if fitted is None
        else f"{fitted:,.0f}"
    )


def latency_text(latency: Latency) -> str:
    """A latency in a few characters, by what its source gives; empty where it gives none."""
    typical = latency.mean_us if latency.mean_us is not None else latency.at(50.0)
    if typical is not None:
        return f"{typical:,.0f} us"
    if latency.under_us is not None:
        return f"< {latency.under_us / 1000:,.0f} ms"
    return ">= 2,000 ms" if latency.upper_bound else ""


def _measurement(one: Measurement) -> list[RenderableType]:
    job = one.job
    shape = f"{job.mode} {job.block_kib:g} KiB"
    details = {
        "engine": job.engine,
        "iodepth": job.iodepth,
        "jobs": job.jobs,
        "runtime": None if job.runtime_s is None else f"{job.runtime_s:g} s",
        "bound by": None if one.bound_by == "unknown" else one.bound_by.value,
    }
    told = ", ".join(f"{name} {value}" for name, value in details.items() if value is not None)
    lines: list[RenderableType] = [
        Rule(shape, align="left", style="dim"),
        Text(f"{one.iops:,.2f} IOPS, {one.throughput_mib_s:,.2f} MiB/s ({told})"),
    ]
    if one.note:
        lines.append(Text(f"note: {one.note}"))
    lines.append(Text("as printed: " + ", ".join(f"{name}={value}" for name, value in one.printed), style="dim"))
    return lines


def _cell(envelope: Envelope, mode: str, block_kib: float) -> str:
    found = [m for m in envelope.measurements if (m.job.mode, m.job.block_kib) == (mode, block_kib)]
    return "\n".join(
        f"{m.iops:,.0f} IOPS {m.throughput_mib_s:,.1f} MiB/s {latency_text(m.latency)}".rstrip() for m in found
    )


def _spec(envelope: Envelope) -> str:
    spec = envelope.spec
    words = [f"{envelope.volumes} x" if envelope.volumes > 1 else "", spec.type]
    words += [f"{spec.size_gib:,} GiB" if spec.size_gib else ""]
    words += [
        f"{spec.iops:,} IOPS" if spec.iops else "",
        f"{spec.throughput_mib_s:,} MiB/s" if spec.throughput_mib_s else "",
    ]
    return " ".join(word for word in words if word)


def _flat(figures: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in figures.items():
        found += _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [(f"{prefix}{key}", str(value))]
    return found
