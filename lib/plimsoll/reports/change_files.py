"""The changes of a run as files: one for each step, tool, account and region, each with its way back, and their order.

No file mixes accounts, so that each is run with credentials of its own; a script stops where they are of another one.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

from plimsoll.decide.answer import StepKind
from plimsoll.files import make_folder, writable, write_lines
from plimsoll.reports.printable import printable
from plimsoll.reports.record import RecommendationRecord, cents_of
from plimsoll.reports.steps import STEP_TITLES, Step, step_of
from plimsoll.reports.templates import TemplateText
from plimsoll.reports.wording import (
    change_words,
    count_of,
    losses_in_words,
    outcome_text,
    risk_in_words,
    short_name,
    usd,
    words_of,
)

CHANGED_IN: Final = (Step.SAFE, Step.TRADE, Step.PROVED, Step.MEASURE, Step.THROTTLED)
"""The steps whose changes are written, in the order in which to act."""

ORDER: Final = "order.txt"
"""The file that says in which order the others are run, and as whom."""

_LONGEST_PLACE: Final = 150
"""Characters of an account and region in a file's name: file systems take 255 bytes in all."""

_MANIFEST: Final = "manifest-"
"""The beginning of the names of manifests."""

_WRITTEN: Final = re.compile(
    rf"[1-9]-({'|'.join(CHANGED_IN)}|templates)-[a-z-]+-[A-Za-z0-9._-]+\.(sh|txt)|{_MANIFEST}[A-Za-z0-9._-]+\.yaml"
)
"""The names of the files that this module writes beside the order."""


FIRST_TO_DO: Final = {
    Step.TRADE: "Ask each volume's owner first: these changes give something up.",
    Step.MEASURE: "Measure first (plimsoll validate): no measurement supports these changes yet.",
}
"""What has to be done before the changes of a step are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """The owner of volumes: its name for people and in file names, and if its changes are commands."""

    name: str
    slug: str
    is_script: bool = False


TOOLS: Final = {
    "hand": Tool(name="CLI script", slug="cli", is_script=True),
    "terraform": Tool(name="Terraform", slug="terraform"),
    "cloudformation": Tool(name="CloudFormation", slug="cloudformation"),
    "kubernetes": Tool(name="Kubernetes", slug="kubernetes"),
    "auto-scaling": Tool(name="Auto Scaling", slug="auto-scaling"),
    "operator": Tool(name="other services", slug="other-services"),
}
"""By the kind of owner, in the order in which they are shown."""


class _Key(NamedTuple):
    """The subject of one file: the places of its step and tool in their tables, and where its volumes are."""

    step: int
    tool: int
    provider: str
    account: str
    region: str


@dataclass(slots=True, kw_only=True)
class _Entries:
    """The changes of one file: where each stands in the spool, with what orders it, and their manifests by name."""

    saved_cents: int = 0
    spans: list[tuple[int, str, int, int, int]] = field(default_factory=list)
    manifests: dict[str, str] = field(default_factory=dict)


def is_open_change(record: RecommendationRecord) -> bool:
    """True for a change that its owner can make now: nothing blocks it."""
    return bool(record.change) and not record.blockers and step_of(record) in CHANGED_IN


def change_note(record: RecommendationRecord) -> str:
    """One line about a change: the volume, what it becomes, what that saves, what it risks, and what is given up."""
    volume = " ".join(printable(f"{record.volume_id} {short_name(record)}").split())
    losses = "; gives up " + ", ".join(losses_in_words(record)) if record.losses else ""
    return f"{volume}: {change_words(record)}, {outcome_text(record)}; {risk_in_words(record)}{losses}"


def head_lines(step: Step, tool: Tool, provider: str, account: str, region: str, *, back: bool) -> list[str]:
    """The lines that begin a file; `account` and `region` are harmless to a shell, or placeholders that a page's script
    fills so."""
    what = "The way back from" if back else "Changes that Plimsoll recommends:"
    lines = [
        f'# {what} "{STEP_TITLES[step]}", {tool.name}, {words_of(provider).account} {account}, {region}.',
        f"# {ORDER} says when. {FIRST_TO_DO.get(step, 'Read each change before you make it.')}",
    ]
    return [*lines, "set -eu", *_guard(provider, account)] if tool.is_script else lines


def _guard(provider: str, account: str) -> list[str]:
    """The lines of a shell that end it where its credentials are of another account."""
    words = words_of(provider)
    if not words.account_command:
        return []
    quoted = f"'{account}'"
    return [
        f"account=$({words.account_command.format(account=quoted)})",
        f'if [ "$account" != {quoted} ]; then',
        f'  echo "These credentials are of $account, and these changes of {account}: nothing was changed." >&2',
        "  exit 1",
        "fi",
    ]


def file_name(step: Step, tool: Tool, account: str, region: str, *, back: bool = False) -> str:
    """The name of a file of changes, or of the one with their way back."""
    ending = f"{'.back' if back else ''}.{'sh' if tool.is_script else 'txt'}"
    return f"{CHANGED_IN.index(step) + 1}-{step}-{tool.slug}-{_to_file_name(account, region)}{ending}"


def _harmless(name: str) -> str:
    """An account or region in which nothing is a shell's own sign."""
    return re.sub(r"[^A-Za-z0-9._:-]", "_", name)


def _to_file_name(*words: str) -> str:
    """Words as a file's name may hold them, whatever they are."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", "-".join(words))[:_LONGEST_PLACE]


def write_changes(
    records: Iterable[RecommendationRecord],
    out: Path,
    templates: Iterable[TemplateText] = (),
    profiles: Iterable[str] = (),
) -> list[Path]:
    """Writes the changes of these volumes and templates into a folder, each file whole or not at all; gives the files.

    Blocked changes are left out. In a file, the changes that save most come first. The files of an earlier call are
    removed. `profiles` are those that the run was made with. BadInput where nothing can be written.
    """
    with writable(out):
        make_folder(out)
        for path in out.iterdir():
            if path.name == ORDER or _WRITTEN.fullmatch(path.name):
                path.unlink()
    written, lines = list[Path](), list[str]()
    profile = only[0] if len(only := list(profiles)) == 1 else ""
    with _spool_changes(records, out) as (spool, entries_by_key):
        for key, entries in sorted(entries_by_key.items(), key=_sort_key):
            step, tool = CHANGED_IN[key.step], list(TOOLS.values())[key.tool]
            for back in (False, True):
                name = file_name(step, tool, key.account, key.region, back=back)
                where = (_harmless(key.account), _harmless(key.region))
                head = head_lines(step, tool, key.provider, *where, back=back)
                write_lines(_file_lines(head, spool, entries, back=back), out / name, "utf-8")
                written.append(out / name)
            how = run_lines(tool, key.provider, _harmless(key.account), profile)
            lines += _order_lines(written[-2].name, written[-1].name, how, step, entries)
            for name, manifest in sorted(entries.manifests.items()):
                write_lines([manifest], out / name, "utf-8")
                written.append(out / name)
                lines.append(f"  manifest, which the changes above apply: {name}\n")
    for name, text in _template_files(templates):
        write_lines(text, out / name, "utf-8")
        written.append(out / name)
        lines.append(f"{name}\n  One change each of a template; its version of today is the way back.\n")
    if written:
        write_lines([ORDER_HEAD, *lines], out / ORDER, "utf-8")
        written.append(out / ORDER)
    return sorted(set(written))


def _sort_key(item: tuple[_Key, _Entries]) -> tuple[int, int, _Key]:
    """The order in which to act: by step, and in each the file first that saves most."""
    key, entries = item
    return key.step, -entries.saved_cents, key


@contextmanager
def _spool_changes(
    records: Iterable[RecommendationRecord], out: Path
) -> Iterator[tuple[IO[bytes], Mapping[_Key, _Entries]]]:
    """The texts of all changes in a file without a name, and where each stands: memory holds no text."""
    tools, entries_by_key = list(TOOLS), dict[_Key, _Entries]()
    with writable(out), TemporaryFile(dir=out) as spool:
        for record in records:
            if not is_open_change(record):
                continue
            step = step_of(record)
            key = _Key(
                CHANGED_IN.index(step), tools.index(record.owner.kind), record.provider, record.account, record.region
            )
            note, begin = f"\n# {change_note(record)}\n", spool.tell()
            forth = f"{note}{record.change}\n".encode()
            back = f"{note}{record.way_back or UNKNOWN_WAY_BACK}\n".encode()
            spool.write(forth + back)
            entries = entries_by_key.setdefault(key, _Entries())
            saved = cents_of(record).get("saved_cents", 0)
            entries.saved_cents += saved
            entries.spans.append((-saved, record.volume_id, begin, len(forth), len(back)))
            files = [entry for entry in record.change_steps if entry.kind is StepKind.FILE]
            entries.manifests |= {f"{_MANIFEST}{_to_file_name(entry.path)}": f"{entry.text}\n" for entry in files}
        yield spool, entries_by_key


UNKNOWN_WAY_BACK: Final = "# An earlier version of Plimsoll made this run and kept no way back: audit again."


def _file_lines(head: list[str], spool: IO[bytes], entries: _Entries, *, back: bool) -> Iterator[str]:
    yield "\n".join([*head, ""])
    for _, _, begin, forth, rear in sorted(entries.spans):
        spool.seek(begin + (forth if back else 0))
        yield spool.read(rear if back else forth).decode()


ORDER_HEAD: Final = """\
The files of this folder, in the order in which to act: one step after the other, and in each the file that saves most
first. Look at the volumes after each file. A file with .back in its name has the way back. A script is for the account
in its name, and stops where the credentials are of another one. It also stops at the first change that fails: remove
the changes above that one before you run it again.

"""


def run_lines(tool: Tool, provider: str, account: str, profile: str = "") -> str:
    """The commands that run a file and take it back; `{name}` and `{back}` stand for the two files' names."""
    if not tool.is_script:
        return f"  For whoever keeps the {tool.name} configuration of {account}; way back: {{back}}\n"
    named = shlex.quote(profile) if profile else f"PROFILE_OF_{account}"
    credentials = words_of(provider).credentials.format(profile=named)
    run = f"{credentials} sh" if credentials else "sh"
    return f"  {run} {{name}}\n  way back: {run} {{back}}\n"


def _order_lines(name: str, back: str, how: str, step: Step, entries: _Entries) -> Iterator[str]:
    saved = f", saves {usd(entries.saved_cents / 100)} a month" if entries.saved_cents > 0 else ""
    yield f"{name}\n  {STEP_TITLES[step]}: {count_of(len(entries.spans), 'volume')}{saved}.\n"
    yield how.format(name=name, back=back)


def _template_files(templates: Iterable[TemplateText]) -> Iterator[tuple[str, list[str]]]:
    """The changes of templates, a file for each tool and place: its name and its lines."""
    files: dict[str, list[str]] = {}
    for template in templates:
        place = _to_file_name(*template.where.split("/"))
        name = f"{len(CHANGED_IN) + 1}-templates-{TOOLS[template.kind].slug}-{place}.txt"
        head = f"# Changes of templates that Plimsoll recommends, {TOOLS[template.kind].name}, {template.where}.\n"
        lines = files.setdefault(name, [head])
        lines.append(
            printable(
                f"\n# {template.made_by}: {template.volumes}, {template.change}, {template.saves}\n{template.how}\n"
            )
        )
    yield from sorted(files.items())
