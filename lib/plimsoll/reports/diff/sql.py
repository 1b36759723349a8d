"""The difference of each volume between two runs, in SQL: each volume of either run is in exactly one group."""

import json
from enum import StrEnum
from typing import Final

from plimsoll.domain.history import Became, RunAnswer, became, carried_out
from plimsoll.domain.kinds import COSTS, CountsAs, names_counted_as
from plimsoll.domain.volume import VolumeSpec
from plimsoll.reports.data.column_types import KEYS
from plimsoll.reports.steps import CENT, sql_list


class DiffGroup(StrEnum):
    """The kind of a volume's difference. Each volume has exactly one."""

    DONE = Became.DONE
    OPEN = Became.OPEN
    CHANGED = Became.CHANGED
    ALTERED = Became.ALTERED
    NEW = Became.NEW
    GONE = Became.GONE
    WAITING = Became.WAITING
    FAILED = "failed"
    LEFT_OUT = "left-out"
    NOT_READ = "not-read"
    FIRST_READ = "first-read"
    SAME = Became.SAME
    UNANSWERED = "unanswered"


GROUP_WORDS: Final = {
    DiffGroup.DONE: f"done as recommended, or nearly; {' and '.join(kind.name for kind in COSTS)} ones are gone",
    DiffGroup.OPEN: "still open: the same recommendation",
    DiffGroup.CHANGED: "the same configuration, another answer",
    DiffGroup.ALTERED: "changed to something else than was recommended",
    DiffGroup.NEW: "was not there before",
    DiffGroup.GONE: "no longer there",
    DiffGroup.WAITING: "changed lately: cannot be judged yet",
    DiffGroup.FAILED: "newly failed",
    DiffGroup.LEFT_OUT: "left out now",
    DiffGroup.NOT_READ: "not read in the second run: nothing is known",
    DiffGroup.FIRST_READ: "answered now, and not in the first run",
    DiffGroup.SAME: "nothing to do, then and now",
    DiffGroup.UNANSWERED: "without an answer, then and now",
}

DIFFERENCES: Final = "differences"
"""The table of all volumes of both runs."""

READ: Final = "read_places"
"""In each run's schema, the places (account/region) of which it names every volume."""

_SIDE: Final = """provider, hosts, action, current, target, drop_in.spec as drop_in, demand, evidence, wait,
    monthly_usd_now, monthly_usd_then, monthly_usd_saved,
    list_append([{'spec': offer.spec, 'usd': offer.monthly_usd} for offer in offers],
    {'spec': drop_in.spec, 'usd': drop_in.monthly_usd}) as weighed, 'answered' as state, null::varchar as reason"""

_UPGRADES: Final = sql_list(names_counted_as(CountsAs.MORE))

BECAME: Final = "became"
"""The function of the history that judges a volume, as the database knows it."""


def differences(before: str, after: str) -> str:
    """The table of differences between the runs in two schemas."""
    return f"""
        create table {DIFFERENCES} as
        with one as ({_side(before)}), other as ({_side(after)}),
        joined as (
            select {", ".join(KEYS)}, coalesce(other.name, one.name) as name,
                coalesce(other.provider, one.provider) as provider, one, other,
                {_state("one", before)} as was, {_state("other", after)} as is_now
            from one full outer join other using ({", ".join(KEYS)})
        ), priced as (
            select *, {_usd("was", "one")} as usd_before, {_usd("is_now", "other")} as usd_after,
                case when one.current = other.current then one.monthly_usd_now
                    when one.target = other.current then one.monthly_usd_then
                    else [offer.usd for offer in one.weighed if offer.spec = other.current][1] end as usd_at_first
            from joined
        ), saving as (
            select *, usd_before - coalesce(usd_at_first, usd_after) as usd_less from priced
        ), judged as (
            select *, case when is_now in ('answered', 'absent') and was in ('answered', 'absent')
                then {BECAME}({_answer("was", "one")}, {_answer("is_now", "other")}) end as verdict from saving
        ), grouped as (
            select *, {_group()} as what, nullif(split_part(verdict, ' ', 2), '') as how from judged
        )
        select *, case when what in ('{DiffGroup.DONE}', '{DiffGroup.ALTERED}') then usd_less end as usd_saved,
            coalesce(what = '{DiffGroup.DONE}' and one.action in {_UPGRADES} and usd_less < 0, false) as costs_more,
            case when was = 'answered' and is_now = 'answered' then usd_after - usd_at_first end as usd_repriced,
            what in ('{DiffGroup.DONE}', '{DiffGroup.ALTERED}') and is_now = 'answered' and usd_less is not null
                and usd_at_first is null as mixed
        from grouped"""


def totals() -> str:
    """Of each group: volumes, and USD a month in each run, null where that is not known of any."""
    return f"select what, count(*), sum(usd_before), sum(usd_after) from {DIFFERENCES} group by what"


def known_costs() -> str:
    """The volumes whose cost is known in both runs, and what they cost in each, USD a month."""
    return f"""
        select count(*), coalesce(sum(usd_before), 0), coalesce(sum(usd_after), 0)
        from {DIFFERENCES} where usd_before is not null and usd_after is not null"""


def money_sums() -> str:
    """A row for each of these: its name, volumes, and USD a month that they are about."""
    open_, done = f"what = '{DiffGroup.OPEN}'", f"what = '{DiffGroup.DONE}'"
    upgrade = f"other.action in {_UPGRADES} and other.monthly_usd_saved < 0"
    cost = f"other.action in {sql_list(kind.name for kind in COSTS)}"
    sums = {
        "saved": ("usd_saved", f"{done} and usd_saved is not null and not costs_more"),
        "upgraded": ("-usd_saved", "costs_more"),
        "altered": ("usd_saved", f"what = '{DiffGroup.ALTERED}' and usd_saved is not null"),
        "open_saving": ("other.monthly_usd_saved", f"{open_} and not ({upgrade}) and not ({cost})"),
        "open_upgrades": ("-other.monthly_usd_saved", f"{open_} and {upgrade}"),
        **{kind.name: ("other.monthly_usd_now", f"{open_} and other.action = '{kind.name}'") for kind in COSTS},
        "unpriced": ("null", f"{done} and usd_saved is null"),
        "mixed": ("null", "mixed"),
        "repriced": ("usd_repriced", f"abs(usd_repriced) >= {CENT}"),
    }
    return " union all ".join(
        f"select '{name}', count(*), coalesce(sum({usd}), 0)::double from {DIFFERENCES} where {which}"
        for name, (usd, which) in sums.items()
    )


def group_rows(group: DiffGroup, most: int | None) -> str:
    """The volumes of a group as JSON, those first that are about the most money."""
    limit = "" if most is None else f"limit {most}"
    cost = "greatest(abs(coalesce(usd_before, 0)), abs(coalesce(usd_after, 0)))"
    return f"""
        select to_json(found)::varchar from (
            from {DIFFERENCES} where what = '{group}'
            order by abs(coalesce(usd_saved, other.monthly_usd_saved, 0)) desc, {cost} desc, {", ".join(KEYS)} {limit}
        ) as found"""


def _side(schema: str) -> str:
    keys = ", ".join(KEYS)
    return f"""
        select {keys}, name, {_SIDE} from {schema}.recommendations
        union all by name
        select {keys}, provider, outcome as state, reason from {schema}.failures where what = 'volume'"""


def _state(side: str, schema: str) -> str:
    """Answered, failed or skipped; else absent where all volumes of its place are known, and unread where not."""
    place = "account || '/' || region"
    return f"""coalesce({side}.state, case when {place} in (select place from {schema}.{READ})
        then 'absent' else 'unread' end)"""


def judge_answers(before: str, after: str) -> str:
    """The group of a volume by two runs' answers as JSON, and how it was done; an absent answer is empty."""
    earlier, later = (_parse_answer(text) if text else None for text in (before, after))
    outcome = became(earlier, later)
    how = (
        carried_out(earlier, later.current) if earlier and later and later.current and outcome is Became.DONE else None
    )
    return f"{outcome} {how or ''}".rstrip()


def _parse_answer(text: str) -> RunAnswer:
    plain = json.loads(text)
    current, target, drop_in = (
        None if plain[key] is None else VolumeSpec(**plain[key]) for key in ("current", "target", "drop_in")
    )
    return RunAnswer(
        action=plain["action"], current=current, target=None if target == current else target, drop_in=drop_in
    )


def _answer(state: str, side: str) -> str:
    """A side's answer as JSON, empty where the volume was not there."""
    fields = ", ".join(f"'{name}': {side}.{name}" for name in ("action", "current", "target", "drop_in"))
    return f"case when {state} = 'answered' then to_json({{{fields}}})::varchar else '' end"


def _group() -> str:
    return f"""case
        when is_now = 'failed' then if(was = 'failed', '{DiffGroup.UNANSWERED}', '{DiffGroup.FAILED}')
        when is_now = 'skipped' then if(was = 'skipped', '{DiffGroup.UNANSWERED}', '{DiffGroup.LEFT_OUT}')
        when is_now = 'unread' then if(was = 'answered', '{DiffGroup.NOT_READ}', '{DiffGroup.UNANSWERED}')
        when verdict is not null then split_part(verdict, ' ', 1)
        when is_now = 'absent' then '{DiffGroup.GONE}'
        else '{DiffGroup.FIRST_READ}'
    end"""


def _usd(state: str, side: str) -> str:
    """The cost of a volume in a run: nothing if it is known to be absent, null if that is unknown."""
    return f"case {state} when 'answered' then {side}.monthly_usd_now when 'absent' then 0 end"
