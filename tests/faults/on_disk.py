"""Files on disk: what may become of a run's file between two commands, and whether the next one says so.

A seed damages one file of an undisturbed run and begins one command that reads it. The law: the command says what it
says of the whole run, or ends with exit code 2 and the file's name. `--resume` may ask again, for the same answers.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from .plan import ONCE, Plan, Strike

EVERY: Final = 20
PLACE: Final = 7
"""One seed in so many damages a file, and which: the plans of all others stay what they were."""

RUN, WHOLE = "RUN", "WHOLE"
"""Where a command's words have the folder that is damaged, and another that is not."""

RESUME: Final = "audit --resume"
READERS: Final[Mapping[str, Sequence[str]]] = {
    "report --format md": ("report", RUN, "--format", "md", "--out", "-"),
    "report --format json": ("report", RUN, "--format", "json", "--out", "-"),
    "query recommendations": ("query", RUN, "from recommendations order by volume_id", "--format", "json"),
    "query demand": ("query", RUN, "from demand order by all", "--format", "json"),
    "query failures": ("query", RUN, "from failures order by all", "--format", "json"),
    "diff": ("diff", WHOLE, RUN, "--format", "json"),
    RESUME: ("audit", "--resume", RUN),
}
"""The commands that read a run, by what they are called."""

FILES: Final = (
    "run.json",
    "recommendations.json",
    "demand.jsonl",
    "unanswered.jsonl",
    "journal.jsonl",
    "checksums.json",
)


def flip_digit(content: bytes, at: float = 0.5) -> bytes:
    """One digit becomes another."""
    places = [found.start() for found in re.finditer(rb"[0-9]", content)]
    if not places:
        return flip_bit(content, at)
    place = places[int(at * len(places))]
    other = str((int(content[place : place + 1]) + 1) % 10).encode()
    return content[:place] + other + content[place + 1 :]


def flip_bit(content: bytes, at: float = 0.5) -> bytes:
    """One bit of one byte is another."""
    if not content:
        return b"\x00"
    place = int(at * len(content))
    return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


def cut(content: bytes, at: float = 0.5) -> bytes:
    """The end is missing."""
    return content[: int(at * len(content))]


def cut_at_line(content: bytes, at: float = 0.5) -> bytes:
    """Whole lines are missing at the end."""
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: int(at * len(lines))])


def line_twice(content: bytes, at: float = 0.5) -> bytes:
    """One line stands there twice."""
    lines = content.splitlines(keepends=True)
    place = int(at * len(lines))
    return b"".join([*lines[: place + 1], *lines[place:]])


Damage = Callable[..., bytes]
DAMAGES: Final[Mapping[str, Damage]] = {
    "a digit": flip_digit,
    "a bit": flip_bit,
    "cut": cut,
    "lines cut": cut_at_line,
    "a line twice": line_twice,
}
ON_DISK: Final = tuple(f"{name} on disk" for name in DAMAGES)
"""The faults of files, as a plan has them."""


def is_on_disk(seed: int) -> bool:
    """Whether a seed damages a file."""
    return seed % EVERY == PLACE


def disk_plan(seed: int, scenarios: Sequence[str]) -> Plan:
    """The plan of a seed that damages a file. Seeds in a row go through all files, damages and commands."""
    rng = random.Random(f"plimsoll on disk {seed}")
    every = [(file, damage, reader) for file in FILES for damage in ON_DISK for reader in READERS]
    round_, place = divmod(seed // EVERY, len(every))
    file, damage, reader = random.Random(f"round {round_} on disk").sample(every, len(every))[place]
    return plan_on_disk(rng.choice(sorted(scenarios)), file, damage, reader, where=rng.random(), seed=seed)


def plan_on_disk(scenario: str, file: str, damage: str, reader: str, *, where: float, seed: int = 0) -> Plan:
    """The plan by which a file is damaged, at that share of it, before a command reads it."""
    operation = f"{file} read by {reader}"
    strike = Strike(operation=operation, fault=damage, often=ONCE, share=0.0, which=0.0, where=where, all_items=False)
    return Plan(seed=seed, scenario=scenario, strikes=(strike,))


def file_and_reader(plan: Plan) -> tuple[str, str]:
    """The file that a plan damages, and the command that reads it."""
    file, _, reader = plan.strikes[0].operation.partition(" read by ")
    return file, reader


def damaged(content: bytes, plan: Plan) -> bytes:
    """What a plan makes of a file."""
    (strike,) = plan.strikes
    return DAMAGES[strike.fault.removesuffix(" on disk")](content, strike.where)
