"""Prints how the corpus is read and what its traps end as; with --write, into README.md of this folder as well."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from plimsoll.envelopes.admissibility import RULES
from tests.corpus.entries import Outcome, entries, outcome
from tests.corpus.kinds import KINDS

PAGE: Final = Path(__file__).with_name("README.md")


def tables(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The tables of the documents, by name."""
    return {"corpus": corpus_table(outcomes), "traps": trap_table(outcomes), "kinds": kind_table()}


def kind_table() -> str:
    """Every rule with its law and source, the made files that meet it, and those that only look so."""
    lines = ["| rule | law | source | met by | only looks so |", "|---|---|---|---|---|"]
    for rule in RULES:
        files = {
            meets: [kind.name for kind in KINDS if (kind.rule, kind.meets) == (rule.name, meets)]
            for meets in (True, False)
        }
        if any(files.values()):
            told = " | ".join("; ".join(names) or "-" for names in files.values())
            lines.append(f"| {rule.name} | {rule.law} | {rule.source} | {told} |")
    return "\n".join(lines)


def corpus_table(outcomes: Sequence[Outcome]) -> str:
    """How many files are read, and how many wrongly."""
    usable = [one for one in outcomes if one.entry.refused is None]
    refused = [one for one in usable if one.refusal is not None]
    useless = [one for one in outcomes if one.entry.refused is not None]
    rows = {
        "files": len(outcomes),
        "of these with a result": len(usable),
        "imported of these": f"{len(usable) - len(refused)} ({100 * (1 - len(refused) / len(usable)):.0f} %)",
        "results read": sum(len(one.results) for one in usable),
        "files with a wrong value": sum(any(one.wrong_values()) for one in usable),
        "wrongly refused": len(refused),
        "without a result, and imported": sum(one.refusal is None for one in useless),
        "traps": sum(one.entry.trap is not None for one in outcomes),
        "traps that ended otherwise than they must": sum(
            any(one.wrong()) for one in outcomes if one.entry.trap is not None
        ),
    }
    return "\n".join(["| corpus | |", "|---|---|", *(f"| {name} | {count} |" for name, count in rows.items())])


def trap_table(outcomes: Sequence[Outcome]) -> str:
    """Every trap with its file, what happens, and why."""
    lines = ["| trap | file | what happens | why |", "|---|---|---|---|"]
    for one in outcomes:
        if one.entry.trap is None:
            continue
        worst = [ruling for found in one.measurements for ruling in found.rulings if ruling.rule in one.entry.rules]
        why = worst[0].text if worst else one.refusal or "every rule lets it count"
        name = one.entry.path.name
        lines.append(f"| {one.entry.trap} | `{name}` | {one.verdict} | {why.removeprefix(f'{name} ').rstrip('.')} |")
    return "\n".join(lines)


def put(text: str, name: str, table: str) -> str:
    """A document with its table replaced."""
    begin, end = f"<!-- {name}: begin -->\n", f"\n<!-- {name}: end -->"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{table}{end}{rest.partition(end)[2]}"


def main() -> int:
    """Prints both tables and what is wrong; 1 where anything is."""
    outcomes = [outcome(entry) for entry in entries()]
    wrong = [f"{one.entry.file}: {what}" for one in outcomes for what in one.wrong()]
    for name, table in tables(outcomes).items():
        sys.stdout.write(f"{table}\n\n")
        if "--write" in sys.argv:
            PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), name, table), encoding="utf-8")
    sys.stdout.write("\n".join([*wrong, "" if wrong else "nothing is wrong\n"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
