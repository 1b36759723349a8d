"""Status: what a plan has come to, from its ledger alone, and what each change promised, brought and gave back."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from plimsoll.model.units import HOUR_S, MONTH_S
from plimsoll_change.ledger import Fact, FactKind, Leg
from plimsoll_change.line import LineJob, LineStep
from plimsoll_change.progress import ClassProgress, Progress
from plimsoll_change.watch import VerdictCode

_MONTH: Final = timedelta(seconds=MONTH_S)
_MONEY: Final = ("promised_usd_month", "changed_usd_month", "reversed_usd_month", "realized_usd")

_WORDS: Final[Mapping[FactKind, tuple[str, str]]] = {
    FactKind.UNSENT: ("planned", "back: due"),
    FactKind.HANDED: ("with its owner", "back: with its owner"),
    FactKind.COMPLETED: ("watched", "restored, watched"),
    FactKind.WATCHED: ("unclear", "restored"),
}
"""The states on the way forth and back that are not called as their fact is."""

_ENDS: Final[Mapping[str, str]] = {VerdictCode.BETTER: "better", VerdictCode.NO_SLOWER: "no slower"}
"""The state of a line whose watch is over, by its last verdict; unclear by any other."""


def state_of(job: LineJob) -> str:
    """The state of a line in a word or two."""
    is_back = job.leg is Leg.BACK
    kind, code = (FactKind.UNSENT, "") if job.latest is None else (job.latest.kind, job.latest.code)
    if kind is FactKind.WATCHED and not is_back and code in _ENDS:
        return _ENDS[code]
    if kind in _WORDS:
        return _WORDS[kind][is_back]
    reason = f" ({code})" if kind in (FactKind.WAITS, FactKind.DROPPED) else ""
    again = " once" if kind is FactKind.FAILED and job.next is not LineStep.DONE else ""
    return f"{'back: ' if is_back else ''}{kind}{reason}{again}"


def describe_status(progress: Progress, now: datetime, billed: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The plan as plain values. `billed` is what the bill says that volumes cost a month now, by their ids."""
    lines = [_describe_line(job, now, billed or {}) for job in progress.jobs.values()]
    sums = {key: round(sum(line[key] or 0.0 for line in lines), 2) for key in _MONEY}
    waves = [(each, each.next_wave) for each in progress.classes.values()]
    coming = [job.line.usd_month_saved for each, wave in waves if wave is not None for job in each.find_members(wave)]
    return {
        "plan": progress.plan.id,
        "now": now.isoformat(),
        "halted": progress.find_halt(now),
        "usd": {**sums, "next_wave_usd_month": round(sum(coming), 2)},
        "classes": [{"class": name, **_describe_class(each)} for name, each in progress.classes.items()],
        "lines": lines,
    }


def _describe_line(job: LineJob, now: datetime, billed: Mapping[str, float]) -> dict[str, Any]:
    line, latest = job.line, job.facts[-1] if job.facts else None
    done, back = job.find(FactKind.COMPLETED, Leg.FORTH), job.find(FactKind.COMPLETED, Leg.BACK)
    verdict = job.worse or job.verdict
    since = None if done is None else ((now if back is None else back.at) - done.at) / _MONTH
    costs = billed.get(line.volume_id) if job.is_in_force else None
    saved = line.usd_month_saved if costs is None else line.usd_month_now - costs
    promised = round(line.usd_month_saved, 2)
    worse, asked = job.find(FactKind.TAKEN_BACK, Leg.BACK), job.find(FactKind.REQUESTED, Leg.BACK)
    waited = None if worse is None or asked is None else asked.at - worse.at
    return {
        "line": line.id,
        "volume_id": line.volume_id,
        "name": line.name,
        "state": state_of(job),
        "text": "" if latest is None else latest.text,
        "at": None if latest is None else latest.at.isoformat(),
        "waits_until": latest.until.isoformat() if latest is not None and latest.until is not None else None,
        "verdict": None if verdict is None else verdict.text,
        "promised_usd_month": promised,
        "changed_usd_month": promised if job.is_in_force else 0.0,
        "reversed_usd_month": promised if back is not None else 0.0,
        "realized_usd": None if since is None else round(saved * since, 2),
        "by_bill": costs is not None,
        "hours_until_back": None if waited is None else round(waited.total_seconds() / HOUR_S, 2),
    }


def _describe_class(each: ClassProgress) -> dict[str, Any]:
    judged = [fact for fact in each.facts if fact.kind is FactKind.JUDGED]
    return {
        "wave": each.number,
        "waves": len(each.waves),
        "kind": "" if each.opening is None else str(each.waves[each.number - 1].kind),
        "states": dict(Counter(state_of(job) for job in each.jobs.values())),
        "verdict": judged[-1].text if judged else "",
        "stopped": None if each.stop is None else each.stop.text,
    }


def status_lines(status: Mapping[str, Any]) -> Iterator[str]:
    """The status for people, a line each."""
    yield f"Plan {status['plan']}, {status['now'][:16].replace('T', ' ')} UTC"
    if status["halted"]:
        yield f"Nothing begins: {status['halted']}"
    usd = status["usd"]
    yield (
        f"Promised ${usd['promised_usd_month']:,.0f} a month, of which ${usd['changed_usd_month']:,.0f} is changed and "
        f"${usd['reversed_usd_month']:,.0f} was taken back. Saved so far: ${usd['realized_usd']:,.2f}. "
        f"The next wave would bring ${usd['next_wave_usd_month']:,.0f} a month."
    )
    for entry in status["classes"]:
        counts = ", ".join(f"{count} {state}" for state, count in sorted(entry["states"].items()))
        kind = f" ({entry['kind']})" if entry["kind"] else ""
        yield f"\n{entry['class']}: wave {entry['wave']} of {entry['waves']}{kind}; {counts}"
        if entry["verdict"]:
            yield f"  {entry['verdict']}"
        if entry["stopped"]:
            yield f"  Stopped: {entry['stopped']} A person says change approve --go-on, or change back."
    gap = "\n"
    for line in (line for line in status["lines"] if line["state"] != "planned"):
        until = f", until {line['waits_until'][:16].replace('T', ' ')} UTC" if line["waits_until"] else ""
        text = line["verdict"] or line["text"]
        label = f"{line['volume_id']} {line['name']}".strip()
        yield f"{gap}{label}: {line['state']}{until}{f'. {text}' if text else ''}"
        gap = ""


def fact_lines(rows: Mapping[str, tuple[Fact, ...]]) -> Iterator[str]:
    """Every fact of the ledger by its time, a line each."""
    facts = [(fact.at, row, number, fact) for row, facts in rows.items() for number, fact in enumerate(facts)]
    for at, row, _, fact in sorted(facts, key=lambda entry: entry[:3]):
        leg = fact.leg if fact.leg is Leg.BACK else ""
        words = " ".join(filter(None, [f"{at:%Y-%m-%d %H:%M:%S}", row, leg, fact.kind, fact.code, fact.by]))
        yield f"{words}{f': {fact.text}' if fact.text else ''}"
