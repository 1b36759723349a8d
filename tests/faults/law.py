"""The law: for every fault, each volume's answer is that of the undisturbed run, or it is named with the reason.

What became of each volume is one of these, from best to worst:

- `identical`: the same record, to the last figure.
- `noted`: the same action, target and money. What differs is what the run says of itself: less was observed, and the
  record's own figures say so, or a notice of its place or a sentence of the record says what could not be read.
- `named`: no answer, and the reason: insufficient data, unanswered, or its target among those that failed. Or the
  answer that needs no metrics, which gives up nothing and says that too few were received.
- `life`: another answer, or none, where what was received cannot be told from a healthy account's. It excuses an
  answer that became cheaper or smaller for two kinds alone.
- `broken`: anything else.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .commands import Ended
from .findings import Findings, Record
from .injector import Injected
from .mutations import names_a_thing

IDENTICAL, NOTED, NAMED, LIFE, BROKEN = "identical", "noted", "named", "life", "broken"

ANSWER = (
    "action",
    "current",
    "target",
    "monthly_usd_now",
    "monthly_usd_then",
    "monthly_usd_saved",
    "monthly_usd_saved_drop_in",
)
"""What of a record is the answer itself: nothing excuses a change of it."""
EXIT_CODES = frozenset({0, 2, 3})
KILLED = -9
"""The exit code of what `kill -9` ended, as its plan says or because it made far too many calls."""
SMALLER = "smaller"
"""The kind of a breach that few kinds of life excuse: an answer that became cheaper, or carries less."""
GENERAL = ("the Organization", "Google Cloud", "organizations/", "folders/")
"""Names of failed targets that stand for every account of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A broken law: of which kind, and what there was. `worse` orders kinds, the worst first."""

    kind: str
    told: str

    @property
    def worse(self) -> int:
        """How bad it is, 0 the worst."""
        kinds = (SMALLER, "endless", "traceback", "silent", "changed", "lost", "invented", "disk", "exit")
        return kinds.index(self.kind)


def breaches_of_process(ended: Ended, *, calls: int, most_calls: int, found: Findings) -> Iterable[Breach]:
    """What a command did that no command may do."""
    if ended.code is None or calls > most_calls:
        yield Breach(kind="endless", told=f"{calls} calls (at most {most_calls} were expected), exit {ended.code}")
    if "Traceback (most recent call last)" in ended.stderr + ended.stdout:
        yield Breach(
            kind="traceback", told=ended.stderr.strip().splitlines()[-1][:200] if ended.stderr else "on stdout"
        )
    elif ended.code not in {*EXIT_CODES, KILLED, None}:
        yield Breach(kind="exit", told=f"exit code {ended.code}: {ended.stderr.strip()[-300:]}")
    if ended.code == 2 and not ended.stderr.strip():
        yield Breach(kind="exit", told="exit code 2 without a sentence")
    for one in found.broken:
        yield Breach(kind="disk", told=one)


def judged(
    expected: Findings, found: Findings, ended: Ended, injected: Iterable[Injected]
) -> tuple[Mapping[str, str], list[Breach]]:
    """What became of each volume of the undisturbed run, and every broken law."""
    struck = list(injected)
    lives = [one.life for one in struck if one.life is not None]
    ids_struck = any(names_a_thing(one.path) for one in struck)
    outcomes: dict[str, str] = {}
    breaches: list[Breach] = []
    for volume_id in sorted({*expected.records, *expected.unanswered}):
        outcome, breach = _of_volume(volume_id, expected, found, ended, ids_struck=ids_struck)
        name, lost = expected.name_of(volume_id), breach is not None and breach.kind == "lost"
        account = (expected.records.get(volume_id) or expected.unanswered[volume_id])["account"]
        is_smaller = breach is not None and breach.kind == SMALLER
        excuses = [life for life in lives if life.cheaper or not is_smaller]
        if outcome == BROKEN and any(life.covers(volume_id, name, account, lost=lost) for life in excuses):
            outcome = LIFE
        elif breach is not None:
            breaches.append(breach)
        outcomes[volume_id] = outcome
    return outcomes, breaches


def _of_volume(
    volume_id: str, expected: Findings, found: Findings, ended: Ended, *, ids_struck: bool
) -> tuple[str, Breach | None]:
    before, after = expected.records.get(volume_id), found.records.get(volume_id)
    known = before or expected.unanswered[volume_id]
    if after is None:
        if ended.code == 2 and not found.exists:
            return NAMED, None
        if (
            found.unanswered.get(volume_id, {}).get("reason")
            or _target_is_named(known, found)
            or _by_name(known, found)
        ):
            same = before is None and volume_id in found.unanswered
            same = same and found.unanswered[volume_id]["reason"] == known["reason"]
            return (IDENTICAL if same else NAMED), None
        if ids_struck and _is_named_otherwise(known, expected, found):
            return NAMED, None
        return BROKEN, Breach(kind="lost", told=f"{volume_id} is nowhere")
    if (after["action"] == "insufficient-data" and after["reasons"]) or _needs_no_metrics(before, after):
        return (IDENTICAL if after == before else NAMED), None
    if before is None:
        return BROKEN, Breach(kind="invented", told=f"{volume_id}: {after['action']} where there was no answer")
    if after == before:
        return IDENTICAL, None
    different = sorted(key for key in before if before[key] != after.get(key))
    if any(key in ANSWER for key in different):
        return BROKEN, Breach(kind=_kind(before, after), told=_told(volume_id, before, after, different))
    if _says_so(before, after, expected, found):
        return NOTED, None
    return BROKEN, Breach(kind="changed", told=_told(volume_id, before, after, different))


def _needs_no_metrics(before: Record | None, after: Record) -> bool:
    """Whether too little was received of a volume, which its answer says, and it gives up nothing for it: no limit, and
    nothing that it would keep without the fault."""
    codes = [{loss["code"] for loss in record["losses"]} for record in (before or {"losses": []}, after)]
    return "needs-no-metrics" in after["reason_codes"] and not after["cuts"] and codes[1] <= codes[0]


def _target_is_named(known: Record, found: Findings) -> bool:
    account, region = known["account"], known["region"]
    for name in found.failed_targets:
        if name.startswith("prices of "):
            continue
        if name in {account, f"{account}/{region}"} or f"::{account}:role/" in name:
            return True
        if name.endswith(f" of {account}/{region}"):  # a page or a zone of it
            return True
        if name.startswith(GENERAL) or (name == "the default credentials" and _is_home(account)):
            return True
    return False


def _by_name(known: Record, found: Findings) -> bool:
    """Whether it is named by its name alone: its id stands only in the list that it is missing from."""
    name = known.get("name")
    return bool(name) and any(one.endswith(f"/{name}") for one in found.unanswered)


def _is_named_otherwise(known: Record, expected: Findings, found: Findings) -> bool:
    """Whether something of its place is named that the undisturbed run does not have: an entry whose id could not be
    read, or is another's, cannot be named by its own. So is an account that nothing was read of, while another stands
    among the failed targets."""
    place = (known["account"], known["region"])
    seen = {one["account"] for one in (*found.records.values(), *found.unanswered.values())}
    if place[0] not in seen and set(found.failed_targets) - set(expected.failed_targets):
        return True
    strange = set(found.unanswered) - {*expected.unanswered, *expected.records}
    if any((found.unanswered[one]["account"], found.unanswered[one]["region"]) == place for one in strange):
        return True
    return bool(found.notices_at(known) - expected.notices_at(known))


def _is_home(account: str) -> bool:
    return account.startswith("1111")


def _says_so(before: Record, after: Record, expected: Findings, found: Findings) -> bool:
    """Whether the run says what differs: a notice of its place, a sentence of the record that is not the earlier one
    with other figures, or less that was observed of its demand, its signals or its past."""
    if found.notices_at(after) - expected.notices_at(before):
        return True
    if _sentences(after) - _sentences(before):
        return True
    was, now = before["demand"] or {}, after["demand"] or {}
    less = now.get("hours_observed", 0) < was.get("hours_observed", 0)
    less = less or now.get("gap_hours", 0) > was.get("gap_hours", 0)
    return less or _is_wider(was, now) or _shows_less(before, after) or _remembers_less(before, after)


def _is_wider(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a peak is known less exactly: its bounds hold those of the undisturbed run."""
    pairs = [(f"least_{name}", name) for name in ("peak_iops", "peak_throughput_mib_s")]
    bounds = [(was.get(least), now.get(least), was.get(most), now.get(most)) for least, most in pairs]
    if any(None in four for four in bounds):
        return False
    inside = all(least_now <= least and most <= most_now for least, least_now, most, most_now in bounds)
    return inside and any(most_now - least_now > most - least for least, least_now, most, most_now in bounds)


def _shows_less(before: Record, after: Record) -> bool:
    """Whether the signals alone differ, and say that they are not known, or known of fewer days."""
    was, now = before.get("signals"), after.get("signals")
    if was is None or any(before[key] != after.get(key) for key in before if key != "signals"):
        return False
    if now is None:
        return True
    gone = any(now[key] is None and value is not None for key, value in was.items())
    return gone or now["days_observed"] < was["days_observed"]


def _remembers_less(before: Record, after: Record) -> bool:
    """Whether its memory alone differs, and says that it is of fewer days."""
    was, now = before.get("memory"), after.get("memory")
    if was is None or now is None or any(before[key] != after.get(key) for key in before if key != "memory"):
        return False
    return bool(now["days"] < was["days"])


def _sentences(record: Record) -> set[str]:
    """The reasons and blockers of a record, without their figures."""
    told = [*record["reasons"], *(one["text"] for one in record["blockers"])]
    return {re.sub(r"[\d.,]+", "#", one) for one in told}


def _kind(before: Record, after: Record) -> str:
    saves_more = after["monthly_usd_saved"] > before["monthly_usd_saved"]
    less = _carried(after) < _carried(before)
    return SMALLER if less or saves_more or after["action"] == "detached" != before["action"] else "changed"


def _carried(record: Record) -> float:
    offered = (record.get("ceilings") or {}).get("offered") or (record.get("ceilings") or {}).get("now") or {}
    return float(offered.get("iops") or 0) + float(offered.get("throughput_mib_s") or 0)


def _told(volume_id: str, before: Record, after: Record, different: list[str]) -> str:
    parts = [
        f"{key} {_short(before[key])} -> {_short(after.get(key))}"
        for key in different
        if key not in {"offers", "replay"}
    ]
    demands = [one.get("demand") or {} for one in (before, after)]
    changed = [
        f"{key} {demands[0].get(key)} -> {demands[1].get(key)}"
        for key in demands[0]
        if demands[0].get(key) != demands[1].get(key)
    ]
    kept = [part for part in parts if not part.startswith(("demand", "ceilings", "drop_in"))]
    return f"{volume_id}: " + "; ".join([*kept, *changed][:8])


def _short(value: Any) -> str:
    if isinstance(value, dict) and "type" in value:
        return f"{value['type']} {value['size_gib']} GiB {value['iops']} IOPS {value['throughput_mib_s']} MiB/s"
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
