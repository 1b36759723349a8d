"""What became of each volume between two runs, in SQL: each volume of either run is in exactly one group."""

from enum import StrEnum
from typing import Final

from plimsoll.domain.recommendation import CHANGES, Detached
from plimsoll.reports.data.views import KEYS
from plimsoll.reports.steps import CENT


class Group(StrEnum):
    """What became of a volume; each is in exactly one."""

    DONE = "done"
    OPEN = "open"
    CHANGED = "changed"
    ALTERED = "altered"
    NEW = "new"
    GONE = "gone"
    FAILED = "failed"
    LEFT_OUT = "left-out"
    NOT_READ = "not-read"
    FIRST_READ = "first-read"
    SAME = "same"
    UNANSWERED = "unanswered"


GROUP_WORDS: Final = {
    Group.DONE: "done as recommended; detached ones are gone",
    Group.OPEN: "still open: the same recommendation",
    Group.CHANGED: "the same configuration, another answer",
    Group.ALTERED: "changed to something else than was recommended",
    Group.NEW: "was not there before",
    Group.GONE: "no longer there",
    Group.FAILED: "newly failed",
    Group.LEFT_OUT: "left out now",
    Group.NOT_READ: "not read in the second run: nothing is known",
    Group.FIRST_READ: "answered now, and not in the first run",
    Group.SAME: "nothing to do, then and now",
    Group.UNANSWERED: "without an answer, then and now",
}

DIFFERENCES: Final = "differences"
"""The table of all volumes of both runs."""

READ: Final = "read_places"
"""In each run's schema, the places (account/region) of which it names every volume."""

_SIDE: Final = """hosts, action, current, target, demand, evidence, monthly_usd_now, monthly_usd_then,
    monthly_usd_saved, 'answered' as state, null::varchar as reason"""


def differences(before: str, after: str) -> str:
    """The table of differences between the runs in two schemas."""
    actions = ", ".join(f"'{action}'" for action in CHANGES)
    return f"""
        create table {DIFFERENCES} as
        with one as ({_side(before)}), other as ({_side(after)}),
        joined as (
            select {", ".join(KEYS)}, coalesce(other.name, one.name) as name, one, other,
                {_state("one", before)} as was, {_state("other", after)} as is_now
            from one full outer join other using ({", ".join(KEYS)})
        ), grouped as (
            select *, {_group(actions)} as what from joined
        )
        select *, one.monthly_usd_now as usd_before, other.monthly_usd_now as usd_after,
            case when what = '{Group.DONE}' then one.monthly_usd_now
                - case when is_now = 'absent' then 0 else other.monthly_usd_now end end as usd_saved,
            case when was = 'answered' and is_now = 'answered' then other.monthly_usd_now
                - case when one.current = other.current then one.monthly_usd_now
                    when what = '{Group.DONE}' then one.monthly_usd_then end end as usd_repriced
        from grouped"""


def totals() -> str:
    """Of each group: volumes, USD a month in each run, what was saved and of how many that is not known, and what the
    open ones can save."""
    return f"""
        select what, count(*), coalesce(sum(usd_before), 0), coalesce(sum(usd_after), 0), coalesce(sum(usd_saved), 0),
            count(*) filter (what = '{Group.DONE}' and usd_saved is null),
            coalesce(sum(case when what = '{Group.OPEN}' then greatest(other.monthly_usd_saved, 0) end), 0)
        from {DIFFERENCES} group by what"""


def repriced() -> str:
    """How many volumes cost another sum for the same configuration, and how much more in all, USD a month."""
    return f"select count(*), coalesce(sum(usd_repriced), 0) from {DIFFERENCES} where abs(usd_repriced) >= {CENT}"


def listed(group: Group, most: int | None) -> str:
    """The volumes of a group as JSON, those first that are about the most money."""
    limit = "" if most is None else f"limit {most}"
    money = "greatest(abs(coalesce(usd_before, 0)), abs(coalesce(usd_after, 0)))"
    return f"""
        select to_json(found)::varchar from (
            from {DIFFERENCES} where what = '{group}'
            order by abs(coalesce(usd_saved, other.monthly_usd_saved, 0)) desc, {money} desc, {", ".join(KEYS)} {limit}
        ) as found"""


def _side(schema: str) -> str:
    keys = ", ".join(KEYS)
    return f"""
        select {keys}, name, {_SIDE} from {schema}.recommendations
        union all by name
        select {keys}, outcome as state, reason from {schema}.failures where what = 'volume'"""


def _state(side: str, schema: str) -> str:
    """Answered, failed or skipped; else absent where all volumes of its place are known, and unread where not."""
    place = "account || '/' || region"
    return f"""coalesce({side}.state, case when {place} in (select place from {schema}.{READ})
        then 'absent' else 'unread' end)"""


def _group(actions: str) -> str:
    detached = f"one.action = '{Detached.action}'"
    return f"""case
        when is_now = 'failed' then if(was = 'failed', '{Group.UNANSWERED}', '{Group.FAILED}')
        when is_now = 'skipped' then if(was = 'skipped', '{Group.UNANSWERED}', '{Group.LEFT_OUT}')
        when is_now = 'unread' then if(was = 'answered', '{Group.NOT_READ}', '{Group.UNANSWERED}')
        when is_now = 'absent' then if({detached}, '{Group.DONE}', '{Group.GONE}')
        when was = 'absent' then '{Group.NEW}'
        when was <> 'answered' then '{Group.FIRST_READ}'
        when one.current <> other.current
            then if(one.action in ({actions}) and other.current = one.target, '{Group.DONE}', '{Group.ALTERED}')
        when one.action <> other.action or one.target is distinct from other.target then '{Group.CHANGED}'
        when one.action in ({actions}) or {detached} then '{Group.OPEN}'
        else '{Group.SAME}'
    end"""
