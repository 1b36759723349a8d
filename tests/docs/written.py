"""The commands that the documents show, as a shell would take them apart."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / "infra" / f"{name}.md" for name in ("events", "google", "operating")),
    ROOT / "benchmarks" / "jobs" / "README.md",
]
"""What people follow: to use Plimsoll, to run the service, and to measure."""
SHELL = "console|bash|sh"
"""The languages of blocks that have commands."""

_ENDS = ";()|&\n"
_SMALL = re.compile(r"^(\w+=.*|for|do|done|in|if|then|fi|[{}])$", re.DOTALL)
"""What can stand before a program: assignments, and words of the shell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A command of a page: its words from the program on, and the file that it writes to."""

    page: str
    words: tuple[str, ...]
    to: str | None = None

    @property
    def line(self) -> str:
        """As it stands in the page, but for quotes."""
        return " ".join(self.words)


def commands_of(page: Path) -> list[Written]:
    """The commands of a page in their order, those in `$(...)` first."""
    text = page.read_text(encoding="utf-8")
    return [
        command
        for block in re.findall(rf"^ *```(?:{SHELL})\n(.*?)```", text, re.DOTALL | re.MULTILINE)
        for command in _commands(page.name, block)
    ]


def _commands(page: str, block: str) -> Iterator[Written]:
    text = re.sub(r"\\\n\s*", " ", block)
    text = re.sub(r"(^|\s)# .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^[\d*]+(?: [\d*]+){4} ", "", text, flags=re.MULTILINE)  # when cron begins it
    for inner in re.findall(r"\$\(([^()]*)\)", text):
        yield from _commands(page, inner)
    lexer = shlex.shlex(re.sub(r"\$\(([^()]*)\)", r"'$(\1)'", text), posix=True, punctuation_chars=f"{_ENDS}<>")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t", "", True
    words: list[str] = []
    for word in [*lexer, "\n"]:
        if word[0] not in _ENDS:
            words.append(word)
            continue
        command = _command(page, words)
        if command is not None:
            yield command
        words = []


def _command(page: str, words: list[str]) -> Written | None:
    to = words[words.index(">") + 1] if ">" in words else None
    kept = words[: words.index(">")] if ">" in words else words
    while kept and _SMALL.match(kept[0]):
        kept = [] if kept[0] == "for" else kept[1:]
    return Written(page=page, words=tuple(kept), to=to) if kept else None


def spoken_of(page: Path) -> list[Written]:
    """The calls of plimsoll within a page's sentences."""
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r"`(plimsoll [^`]+)`", prose)
    return [Written(page=page.name, words=tuple(shlex.split(one))) for one in found]
