"""The changes of a run as files, one for each tool that owns volumes: a script of commands, and edits of templates."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from plimsoll.reports.printable import printable
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.template_text import TemplateText
from plimsoll.reports.wording import change_words, outcome_text, short_name
from plimsoll.writing import whole, write_lines

HEAD: Final = (
    "# Changes that Plimsoll recommends. Read each before you make it.\n"
    "# The account stands above each change: use its credentials.\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What owns volumes: its name for people, and the file of its changes."""

    name: str
    file: str


TOOLS: Final = {
    "hand": Tool(name="CLI script", file="changes-cli.sh"),
    "terraform": Tool(name="Terraform", file="changes-terraform.txt"),
    "cloudformation": Tool(name="CloudFormation", file="changes-cloudformation.txt"),
    "kubernetes": Tool(name="Kubernetes", file="changes-kubernetes.txt"),
    "auto-scaling": Tool(name="Auto Scaling", file="changes-auto-scaling.txt"),
    "operator": Tool(name="other services", file="changes-other-services.txt"),
}
"""By the kind of owner, in the order in which they are shown."""


def change_head(record: RecommendationRecord) -> str:
    """The comment above a volume's change: where it is, what it becomes, and what that saves."""
    told = f"{record.account} {record.region} {record.volume_id} {short_name(record)}"
    return f"# {' '.join(printable(told).split())}: {change_words(record)}, {outcome_text(record)}"


TEMPLATES: Final = "changes-templates.txt"
"""The file of the changes of templates, each of which is one for many volumes."""


def write_changes(
    records: Iterable[RecommendationRecord], out: Path, templates: Iterable[TemplateText] = ()
) -> list[Path]:
    """Writes the changes of these volumes and templates into a folder, each file whole or not at all; gives the files.

    What is blocked today is left out. A tool that owns none of them has no file.
    """
    files: dict[str, TextIO] = {}
    written = _templates_written(list(templates), out)
    with ExitStack() as stack:
        for record in records:
            if not record.change or record.blockers:
                continue
            kind = record.owner.kind
            if kind not in files:
                path = out / TOOLS[kind].file
                beside = stack.enter_context(whole(path))
                files[kind] = stack.enter_context(beside.open("w", encoding="utf-8", newline="\n"))
                files[kind].write(HEAD)
                written.append(path)
            files[kind].write(f"\n{change_head(record)}\n{record.change}\n")
    return sorted(written)


def _templates_written(templates: list[TemplateText], out: Path) -> list[Path]:
    if not templates:
        return []
    texts = (
        f"\n# {one.where} {one.made_by}: {one.volumes}, {one.change}, {one.saves}\n{one.how}\n" for one in templates
    )
    write_lines((HEAD, *map(printable, texts)), out / TEMPLATES, "utf-8")
    return [out / TEMPLATES]
