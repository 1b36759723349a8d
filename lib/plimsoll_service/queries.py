"""Queries: questions about many runs, in SQL that Athena and DuckDB both take.

They ask the table `recommendations`, and of it the latest day with a run; if that day has several runs, one of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from plimsoll.model.kinds import CountsAs, names_counted_as
from plimsoll.reports.record import OLD_KEYS
from plimsoll.reports.steps import sql_list

_DROP_IN: Final = "monthly_usd_saved_drop_in"

_COSTS: Final = sql_list(names_counted_as(CountsAs.COST))
_UPGRADES: Final = sql_list(names_counted_as(CountsAs.MORE))

_LATEST: Final = """with latest as (
  select run_date, max(run_id) as run_id
  from recommendations
  where run_date = (select max(run_date) from recommendations)
  group by run_date
)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedQuery:
    """A query with its title."""

    title: str
    sql: str


QUERIES: Final[Mapping[str, SavedQuery]] = {
    "savings-by-account": SavedQuery(
        title="The saving of each account, its part by same-limits replacements, and its blocked part.",
        sql=f"""{_LATEST}
select
  account,
  count(*) as volumes,
  round(sum(monthly_usd_now), 2) as usd_now,
  round(sum(case when is_saving then monthly_usd_saved else 0 end), 2) as usd_saved,
  round(
    sum(case when is_saving then coalesce({_DROP_IN}, {OLD_KEYS[_DROP_IN]}) else 0 end), 2
  ) as usd_saved_drop_in,
  round(sum(case when is_saving and cardinality(blockers) > 0 then monthly_usd_saved else 0 end), 2) as usd_blocked
from (
  select
    r.*,
    r.action not in {_COSTS} and not (r.action in {_UPGRADES} and r.monthly_usd_saved < 0) as is_saving
  from recommendations r
  join latest on r.run_date = latest.run_date and r.run_id = latest.run_id
) judged
group by account
order by usd_saved desc, account
""",
    ),
    "oldest-gp2": SavedQuery(
        title="The oldest gp2 volumes, with their cost and the saving of a move, USD a month.",
        sql=f"""{_LATEST}
select
  r.created,
  r.account,
  r.region,
  r.volume_id,
  r.name,
  r."current".size_gib as size_gib,
  r.monthly_usd_now,
  r.monthly_usd_saved,
  r.action,
  r.step
from recommendations r
join latest on r.run_date = latest.run_date and r.run_id = latest.run_id
where r."current".type = 'gp2'
order by r.created, r.account, r.region, r.volume_id
limit 500
""",
    ),
    "blocked-by-owner": SavedQuery(
        title="Blocked changes by owner and first blocker, with their savings, USD a month.",
        sql=f"""{_LATEST}
select
  r.owner.kind as owner_kind,
  r.owner.name as owner_name,
  r.blockers[1].code as blocked_by,
  count(*) as volumes,
  round(sum(r.monthly_usd_saved), 2) as usd_saved
from recommendations r
join latest on r.run_date = latest.run_date and r.run_id = latest.run_id
where cardinality(r.blockers) > 0
group by 1, 2, 3
order by usd_saved desc, owner_kind, owner_name, blocked_by
""",
    ),
}
"""The saved queries of the workgroup, by name."""
