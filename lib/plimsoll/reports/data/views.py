"""Views: a run's files as tables, in SQL; what each has, and how it is made."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from plimsoll.reports.data.column_types import KEYS, column_struct, column_types, literal, quote_name
from plimsoll.reports.record import (
    EARLIER,
    FIRST_PROVIDER,
    OLD_KEYS,
    DemandProfileRecord,
    EpochRecord,
    FrontierStepRecord,
    RecommendationRecord,
    SpecRecord,
)
from plimsoll.reports.steps import RISK_SQL, STEP_SQL

VIEWS: Final = {
    "recommendations": "one row a volume: its configuration, the recommended one, the reasons and the step",
    "offers": "one row a configuration that was weighed for a volume, and why it was refused",
    "frontier": "one row a budget of throttled minutes of a volume: the cheapest configuration that keeps to it",
    "epochs": "one row a span of the window in which a volume and its hosts did not change",
    "demand": "one row a span of time of a volume: its demand",
    "failures": "one row a volume without an answer, or a place that could not be read, and why",
    "states": "one row a thing that is paid for and not used, once `plimsoll states` has read it",
    "paid": "one row a type and state of what is paid, with what of it is used and can be taken",
}
"""Every view, and what a row of it is."""


EARLIER_CHANGE: Final = "earlier_change"
"""The function that finds what a change of an earlier version cuts and gives up, by its record and by its cloud."""

_EARLIER_KEYS: Final = ("cuts", "losses")


def recommendations(rows: str) -> str:
    """The SQL of the recommendations with their steps, the risk of each as a column of its own.

    `rows` is the SQL to select them from.
    """
    names = ("frontier", "epochs", "pool", "failed_measurements")
    lists = ", ".join(f"coalesce({name}, []) as {name}" for name in names)
    codes = f"coalesce(reason_codes, [{literal(EARLIER)} for reason in reasons]) as reason_codes"
    types = column_types(RecommendationRecord)
    fields = ", ".join(f"'{name}': {name}" for name in ("action", "current", "target", "drop_in"))
    record = f"{EARLIER_CHANGE}(to_json({{{fields}}})::varchar, coalesce(provider, {literal(FIRST_PROVIDER)}))"
    earlier = ", ".join(
        f"case when {name} is null then ({record}->'{name}')::json::{types[name]} else {name} end as {name}"
        for name in _EARLIER_KEYS
    )
    replaced = f"{_provider()}, {lists}, {codes}, {earlier}"
    return f"""
        select *, {STEP_SQL} as step
        from (
            select *, risk.promised_pct as risk_promised_pct, {RISK_SQL} as risk_level
            from (select * replace ({replaced}) from {rows})
        )"""


def offers(rows: str) -> str:
    """The SQL of all offers that were weighed, the same-limits replacement and relief included, once each."""
    keys = ", ".join(KEYS)
    spec = ", ".join(f"offer.spec.{quote_name(name)} as {quote_name(name)}" for name in SpecRecord.model_fields)
    return f"""
        with weighed as (
            select *, [one.spec for one in offers] as specs from {rows}
        ), listed as (
            select {keys}, target, drop_in, relief, unnest(offers || [
                one for one in list_distinct([drop_in, relief])
                if one is not null and not list_contains(specs, one.spec)
            ]) as offer
            from weighed
        )
        select {keys}, {spec}, offer.monthly_usd, offer.ceiling_iops, offer.ceiling_throughput_mib_s,
            offer.throttled_minutes, offer.refused,
            coalesce(offer.spec = target, false) as chosen,
            coalesce(offer.spec = drop_in.spec, false) as drop_in,
            coalesce(offer.spec = relief.spec, false) as relief
        from listed"""


def frontier(rows: str) -> str:
    """The SQL of the steps of every frontier, a row each."""
    return _unnest(rows, "frontier", FrontierStepRecord)


def epochs(rows: str) -> str:
    """The SQL of the epochs of every volume, a row each."""
    return _unnest(rows, "epochs", EpochRecord)


def _unnest(rows: str, column: str, of: type[BaseModel]) -> str:
    """The SQL of a row for each element of a column of lists; a configuration in it has columns of its own."""
    spec = ", ".join(f"one.spec.{quote_name(name)} as {quote_name(name)}" for name in SpecRecord.model_fields)
    figures = ", ".join(
        spec if name == "spec" else f"one.{quote_name(name)} as {quote_name(name)}" for name in of.model_fields
    )
    return f"select {', '.join(KEYS)}, {figures} from (select *, unnest({column}) as one from {rows})"


def demand(rows: str) -> str:
    """The SQL of the spans of every profile, a row each, with its start."""
    keys = ", ".join(KEYS)
    lists = [name for name, kind in column_types(DemandProfileRecord).items() if kind.endswith("[]")]
    unnested = ", ".join(f"unnest({name}) as {name}" for name in lists)
    return f"""
        with spans as (
            select {keys}, start_s, {unnested},
                unnest([coalesce(list_sum(length_s[1:number - 1]), 0) for number in range(1, len(length_s) + 1)])
                    as passed_s
            from {rows}
        )
        select {keys}, to_timestamp(start_s + passed_s) as start, {", ".join(lists)} from spans"""


def failures(rows: str, places: str) -> str:
    """The SQL of the volumes without an answer and of the places that could not be read, a row each.

    `places` is the SQL of a table with a place and a reason.
    """
    return f"""
        select 'volume' as what, account || '/' || region as place, account, region, volume_id, outcome, reason,
            {_provider()}
        from {rows}
        union all
        select 'place', place, null, null, null, 'failed', reason, null from {places}"""


def states(path: str | None, column: str, model: type[BaseModel]) -> str:
    """The SQL of a list in states.json, a row each; without a path (None) it has no rows."""
    listed = {column: f"{column_struct(model)}[]"}
    return f"select unnest(entry) from (select unnest({column}) as entry from {_rows(listed, path, 'unstructured')})"


def records(path: str | None) -> str:
    """The SQL to select from for the rows of recommendations.json; without a path (None) it has no rows.

    Columns that earlier versions wrote under another name have that of today, which goes first if both are there.
    """
    types = column_types(RecommendationRecord)
    both = {**types, **{old: types[name] for name, old in OLD_KEYS.items()}}
    replaced = ", ".join(f"coalesce({name}, {old}) as {name}" for name, old in OLD_KEYS.items())
    return f"(select * exclude ({', '.join(OLD_KEYS.values())}) replace ({replaced}) from {_rows(both, path, 'array')})"


def lines(model: type[BaseModel], path: str | None) -> str:
    """The SQL to select from for a file with a record a line; without a path (None) it has no rows."""
    return _rows(column_types(model), path, "newline_delimited")


def _rows(columns: Mapping[str, str], path: str | None, layout: str) -> str:
    """The SQL to select from for a JSON file; without a path (None) it has no rows. `layout` as DuckDB names it."""
    if path is None:
        nothing = ", ".join(f"null::{kind} as {quote_name(name)}" for name, kind in columns.items())
        return f"(select {nothing} where false)"
    types = ", ".join(f"{quote_name(name)}: {literal(kind)}" for name, kind in columns.items())
    return f"read_json({literal(path)}, format='{layout}', columns={{{types}}})"


def _provider() -> str:
    """The cloud, also where a version wrote the rows that knew no other than the first."""
    return f"coalesce(provider, {literal(FIRST_PROVIDER)}) as provider"
