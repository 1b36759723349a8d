"""The saved queries, asked of real Parquet files of several runs, answer what the runs say of themselves."""

import re
from collections import Counter, defaultdict
from pathlib import Path

import duckdb
import pytest

from plimsoll.reports.data.database import open_runs
from plimsoll.reports.data.exports import copy_parquet
from plimsoll.reports.record import OLD_KEYS, BlockerRecord
from plimsoll.reports.totals import RunTotals
from plimsoll_service.queries import QUERIES
from tests.unit.reports.fleets import a_fleet
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

PAGE = (Path(__file__).parents[3] / "infra" / "operating.md").read_text(encoding="utf-8")
DAYS = ("2027-01-04", "2027-01-11")


def blocked(record, *codes):
    return record.model_copy(update={"blockers": [BlockerRecord(code=code, text=code) for code in codes]})


def a_week(number):
    """A fleet some of which must wait; volumes were made one after the other."""
    fleet = [
        record.model_copy(update={"created": f"2020-01-{1 + at:02d}T00:00:00+00:00"})
        for at, record in enumerate(reversed(a_fleet(18 + number)))
    ]
    owner = a_record().owner.model_copy(update={"kind": "terraform", "name": "payments"})
    waiting = [blocked(a_record(volume_id=f"vol-w{at}", owner=owner), "state", "evidence") for at in range(2)]
    unpriced = a_record("keep", volume_id="vol-unpriced", monthly_usd_now=None, monthly_usd_then=None, account="9" * 12)
    return [*fleet, *waiting, unpriced]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The table of two weeks' runs, as it is partitioned in the store; the first week's has the names of an earlier
    version for what has other ones today."""
    place = tmp_path_factory.mktemp("store")
    for number, day in enumerate(DAYS):
        run = a_run(place / f"run-{number}", a_week(number), profiles=False)
        partition = place / "recommendations" / f"run_date={day}"
        partition.mkdir(parents=True)
        columns = "*" if number else f"* rename ({', '.join(f'{new} as {old}' for new, old in OLD_KEYS.items())})"
        with open_runs(run) as database:
            sql = f"select {columns}, 'run-{number}' as run_id from recommendations"
            copy_parquet(database, sql, partition / "0.parquet")
    return f"read_parquet('{place}/recommendations/**/*.parquet', hive_partitioning = true, union_by_name = true)"


def asked(table, name):
    return answered(table, QUERIES[name].sql)


def answered(table, sql):
    with duckdb.connect() as connection:
        connection.execute(f"create view recommendations as select * from {table}")
        answer = connection.execute(sql)
        columns = [column[0] for column in answer.description]
        return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]


def test_the_savings_of_each_account_are_those_of_the_latest_run(table):
    check_savings(asked(table, "savings-by-account"), a_week(1))


def test_a_run_of_an_earlier_version_is_asked_alike(table):
    before = f"(select * from {table} where run_date < '{DAYS[1]}')"
    check_savings(asked(before, "savings-by-account"), a_week(0))


def check_savings(found, records):
    parts_of = defaultdict(RunTotals)
    for record in records:
        parts_of[record.account].add(record)
    assert {row["account"]: row["volumes"] for row in found} == {
        who: one.answered_count for who, one in parts_of.items()
    }
    for row in found:
        money = parts_of[row["account"]]
        assert (row["usd_now"] or 0, row["usd_saved"]) == (money.usd_now, money.usd_saved)
        assert (row["usd_saved_drop_in"], row["usd_blocked"]) == (money.usd_saved_drop_in, money.usd_blocked)
    assert [row["usd_saved"] for row in found] == sorted((row["usd_saved"] for row in found), reverse=True)


def test_the_oldest_gp2_volumes_come_first_and_no_others(table):
    found = asked(table, "oldest-gp2")
    expected = {one.volume_id for one in a_week(1) if one.current.type == "gp2"}
    assert {row["volume_id"] for row in found} == expected
    assert [row["created"] for row in found] == sorted(row["created"] for row in found)


def test_what_must_wait_is_told_by_owner_and_what_it_waits_for_first(table):
    waiting = Counter((one.owner.kind, one.owner.name, one.blockers[0].code) for one in a_week(1) if one.blockers)
    found = asked(table, "blocked-by-owner")
    assert {(row["owner_kind"], row["owner_name"], row["blocked_by"]): row["volumes"] for row in found} == waiting
    payments = next(row for row in found if row["owner_name"] == "payments")
    assert (payments["blocked_by"], payments["usd_saved"]) == ("state", 2 * a_record().monthly_usd_saved)


def test_the_query_of_the_document_finds_what_is_open_longest(table):
    (sql,) = re.findall(r"```sql athena\n(.*?)```", PAGE, re.DOTALL)
    found = answered(table, sql)
    changes = ("migrate", "reprovision", "upgrade")
    weeks = [{(one.account, one.volume_id) for one in a_week(number) if one.action in changes} for number in (0, 1)]
    assert {(row["account"], row["volume_id"]) for row in found} == weeks[1]
    assert {row["runs"] for row in found if (row["account"], row["volume_id"]) in weeks[0]} == {2}
    assert [row["since"] for row in found] == sorted(row["since"] for row in found)
