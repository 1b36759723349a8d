"""The changes of templates in words, the same for every report."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from plimsoll.reports.record import OwnerRecord, RecommendationRecord
from plimsoll.reports.run_record import RunRecord, TemplateChange
from plimsoll.reports.wording import count_of, owner_text, usd

TITLE: Final = "One change for all that a template makes"
WHY: Final = (
    "Most of these volumes save too little alone, or live too short to be judged alone. The template makes new ones as "
    "it says then. Those that are there follow when they are replaced, or each by a change of its own."
)
SHOWN_TEMPLATES: Final = 10
"""How many are shown; run.json has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateText:
    """One change of a template: what makes the volumes and where, what they become, and what that saves.

    `kind` is the kind of owner, and `how` says in a few lines how that one writes it.
    """

    kind: str
    made_by: str
    where: str
    volumes: str
    change: str
    saves: str
    example: str
    how: str


def template_name(record: RecommendationRecord) -> str:
    """The template that made a volume, in words; empty where none is known."""
    template = record.template
    return "" if template is None else _maker_words(template.kind, template.name, template.device)


def template_texts(run: RunRecord) -> Iterator[TemplateText]:
    """The changes of a run that save most, from its run.json; none where an earlier version wrote it."""
    for change in run.templates[:SHOWN_TEMPLATES]:
        target = change.target
        figures = [target.type]
        figures += [f"{target.iops:,} IOPS"] if target.iops else []
        figures += [f"{target.throughput_mib_s:,} MiB/s"] if target.throughput_mib_s else []
        yield TemplateText(
            kind=change.kind,
            made_by=_maker_words(change.kind, change.template, change.device),
            where=f"{change.account}/{change.region}",
            volumes=count_of(change.volumes, "volume"),
            change=f"{change.type} to {', '.join(figures)}",
            saves=_saves(change),
            example=change.example,
            how=_instructions(change),
        )


def _saves(change: TemplateChange) -> str:
    saved, beyond_usd = change.monthly_usd_saved, change.monthly_usd_saved_beyond_volumes
    beyond = "" if saved == beyond_usd else f", {usd(beyond_usd)} of it beyond what volumes save alone"
    return f"saves {usd(saved)} a month{beyond}"


def _maker_words(kind: str, name: str, device: str) -> str:
    return f"{owner_text(OwnerRecord(kind=kind, name=name))} {device}".rstrip()


_KEYS: Final = {
    ("aws", "auto-scaling"): ("  VolumeType: {}", "  Iops: {}", "  Throughput: {}"),
    ("aws", "kubernetes"): ("  type: {}", '  iops: "{}"', '  throughput: "{}"'),
    ("aws", "terraform"): ('  type = "{}"', "  iops = {}", "  throughput = {}"),
    ("google", "auto-scaling"): ("  type: {}", "  provisioned-iops: {}", "  provisioned-throughput: {}"),
    ("google", "kubernetes"): (
        "  type: {}",
        '  provisioned-iops-on-create: "{}"',
        '  provisioned-throughput-on-create: "{}Mi"',
    ),
    ("google", "terraform"): ('  type = "{}"', "  provisioned_iops = {}", "  provisioned_throughput = {}"),
}
"""How a type, IOPS and MiB/s are written where a template is, by cloud and by what the template is."""

_WHERE: Final = {
    "auto-scaling": "In a new version of the template that {name} starts its hosts from, for {device}:",
    "kubernetes": "A StorageClass stays as it was made. Make another one like {name}, with these parameters:",
    "terraform": "In the Terraform of {name}, for its volumes of this type:",
}


def _instructions(change: TemplateChange) -> str:
    target, kind = change.target, change.kind
    figures = target.type, target.iops, target.throughput_mib_s
    keys = _KEYS.get((change.provider, kind), ("  type: {}", "  IOPS: {}", "  MiB/s: {}"))
    lines = [key.format(figure) for key, figure in zip(keys, figures, strict=True) if figure is not None]
    where = _WHERE[kind].format(name=change.template, device=change.device or "its volumes")
    return "\n".join([where, *lines])
