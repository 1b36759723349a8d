"""SQL over a run says what its files say, whatever is in them, and never more."""

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.model.errors import BadInput
from plimsoll.model.units import HOUR_S
from plimsoll.reports.data.database import open_runs, select
from plimsoll.reports.data.views import VIEWS
from plimsoll.reports.record import DemandProfileRecord
from plimsoll.reports.run_reader import read_records, stream_profiles
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import risk_level
from tests.profiles import examples
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.runs import a_run, an_unanswered
from tests.unit.reports.strategies import HOSTILE, fleets

FAILED = an_unanswered("vol-f", reason="volume type gp9 has no published limits")
SKIPPED = an_unanswered("vol-s", "skipped", "excluded by the policy")


def asked(folder, sql):
    with open_runs(folder) as database:
        return list(database.rows(sql))


@pytest.fixture
def run(tmp_path):
    records = [a_record(action, volume_id=f"vol-{action}") for action in every_action()]
    return a_run(
        tmp_path / "run", records, unanswered=[FAILED, SKIPPED], failed_places={"profile prod": "BadCredentials"}
    )


# ---- recommendations


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
@given(fleets())
def test_sums_steps_and_names_are_those_of_the_records(fleet):
    with TemporaryDirectory() as folder:
        run = a_run(Path(folder) / "run", fleet)
        totals = RunTotals()
        for record in fleet:
            totals.add(record)
        rows = asked(run, "select volume_id, name, owner.name, step, coalesce(monthly_usd_now, 0) from recommendations")
        assert rows == [
            (one.volume_id, one.name, one.owner.name, str(step_of(one)), one.monthly_usd_now or 0) for one in fleet
        ]
        risks = asked(run, "select volume_id, risk_level, risk_promised_pct, len(losses) from recommendations")
        assert risks == [
            (one.volume_id, risk_level(one), None if one.risk is None else one.risk.promised_pct, len(one.losses))
            for one in fleet
        ]
        counts = dict(asked(run, "select action, count(*) from recommendations group by action"))
        assert counts == dict(totals.actions)
        kept = "action <> 'detached' and not (action = 'upgrade' and monthly_usd_saved < 0)"
        ((now, saved, drop_in),) = asked(
            run,
            f"select sum(monthly_usd_now), sum(monthly_usd_saved) filter ({kept}), "
            f"sum(monthly_usd_saved_drop_in) filter ({kept}) from recommendations",
        )
        assert (now or 0, saved or 0, drop_in or 0) == pytest.approx(
            (totals.usd_now, totals.usd_saved, totals.usd_saved_drop_in)
        )


def test_every_step_is_seen_in_sql(run):
    steps = {step for (step,) in asked(run, "select step from recommendations")}
    assert steps == {str(step_of(record)) for record in read_records(run)}
    assert steps <= {str(step) for step in Step}


def test_what_is_nested_is_reached_by_dots_and_what_is_null_stays_null(run):
    ((kind, iops, grade, peak),) = asked(
        run,
        "select current.type, current.iops, evidence.grade, demand.peak_iops from recommendations "
        "where volume_id = 'vol-detached'",
    )
    assert (kind, iops, grade, peak) == ("gp2", None, None, None)


def test_a_tag_is_reached_by_its_key_and_hostile_ones_harm_nothing(tmp_path):
    tags = {"team": "payments", "'; drop table x": HOSTILE[0], "cost center": "=1+1"}
    run = a_run(tmp_path / "run", [a_record(volume_id="vol-1", tags=tags), a_record(volume_id="vol-2")])
    rows = asked(run, "select volume_id, tags['team'], tags['cost center'] from recommendations order by all")
    assert rows == [("vol-1", "payments", "=1+1"), ("vol-2", None, None)]
    assert asked(run, "select tags from recommendations where volume_id = 'vol-1'") == [(tags,)]


def test_a_run_from_before_tags_were_kept_is_read_all_the_same(tmp_path):
    run = a_run(tmp_path / "run", [a_record()])
    path = run / "recommendations.json"
    (record,) = json.loads(path.read_text(encoding="utf-8"))
    del record["tags"]
    (run / "checksums.json").unlink()
    path.write_text(f"[\n{json.dumps(record)}\n]\n", encoding="utf-8")
    assert asked(run, "select volume_id, tags['team'] from recommendations") == [("vol-1", None)]
    assert [one.tags for one in read_records(run)] == [{}]


# ---- offers


def test_every_offer_is_a_row_and_one_of_each_weighed_volume_is_chosen(run):
    records = {record.volume_id: record for record in read_records(run)}
    rows = asked(run, "select volume_id, type, size_gib, iops, throughput_mib_s, refused, chosen, drop_in from offers")
    weighed = {volume_id: record for volume_id, record in records.items() if record.offers}
    chosen = {row[0]: row[1:5] for row in rows if row[6]}
    assert chosen == {
        volume_id: tuple(record.target.model_dump().values()) for volume_id, record in weighed.items() if record.target
    }
    assert Counter(row[0] for row in rows if row[6]) == Counter(dict.fromkeys(chosen, 1))
    for volume_id, record in weighed.items():
        own = [row for row in rows if row[0] == volume_id]
        specs = [tuple(offer.spec.model_dump().values()) for offer in record.offers]
        if record.drop_in is not None:
            drop_in = tuple(record.drop_in.spec.model_dump().values())
            assert [row[1:5] for row in own if row[7]] == [drop_in]
            specs += [] if drop_in in specs else [drop_in]
        assert Counter(row[1:5] for row in own) == Counter(specs)


# ---- demand


def test_the_spans_follow_each_other_and_have_the_profiles_figures(run):
    rows = asked(run, "select volume_id, epoch(start), length_s, iops, throttled_minutes from demand")
    for profile in stream_profiles(run):
        own = [row[1:] for row in rows if row[0] == profile.volume_id]
        starts = [profile.start_s + HOUR_S * number for number in range(3)]
        assert own == list(zip(starts, profile.length_s, profile.iops, profile.throttled_minutes, strict=True))
    assert {row[0] for row in rows} == {profile.volume_id for profile in stream_profiles(run)}


@settings(max_examples=examples(10))
@given(st.lists(st.integers(60, 90_000), min_size=1, max_size=40))
def test_a_span_starts_where_the_last_one_ended(lengths):
    record = a_record()
    fields = {
        name: [1.0] * len(lengths)
        for name, field in DemandProfileRecord.model_fields.items()
        if "list" in str(field.annotation)
    }
    profile = DemandProfileRecord.model_validate(
        {
            **record.model_dump(include={"account", "region", "volume_id"}),
            **fields,
            "start_s": 1_000,
            "length_s": lengths,
            "shortest_s": lengths,
        }
    )
    with TemporaryDirectory() as folder:
        run = a_run(Path(folder))
        (run / "checksums.json").unlink()
        (run / "demand.jsonl").write_text(profile.model_dump_json() + "\n", encoding="utf-8")
        rows = asked(run, "select epoch(start)::bigint, length_s from demand order by start")
    at = 1_000
    for start, seconds in rows:
        assert start == at
        at += seconds
    assert [seconds for _, seconds in rows] == lengths


# ---- volumes by name


@pytest.mark.parametrize(
    ("words", "ids"),
    [("a, b and c", {"vol-1"}), ("vol-1,vol-2", {"vol-1", "vol-2"}), ("vol-2, a, b and c", None), ("a, vol-1", None)],
)
def test_a_name_may_have_commas_and_several_stand_between_commas(tmp_path, words, ids):
    records = [a_record("keep", volume_id="vol-1", name="a, b and c"), a_record("keep", volume_id="vol-2", name="x")]
    with open_runs(a_run(tmp_path / "run", records)) as database:
        if ids is None:
            with pytest.raises(BadInput, match="a is not in this run"):
                select(database, None, (words,))
            return
        assert {key[2] for key in select(database, None, (words,)).keys} == ids


# ---- failures


def test_failures_name_volumes_and_places(run):
    assert asked(run, "select what, place, volume_id, outcome, reason from failures order by reason") == [
        ("place", "profile prod", None, "failed", "BadCredentials"),
        ("volume", "111122223333/us-east-1", "vol-s", "skipped", "excluded by the policy"),
        ("volume", "111122223333/us-east-1", "vol-f", "failed", "volume type gp9 has no published limits"),
    ]


def test_a_run_of_before_failures_were_listed_has_them_from_its_account(run):
    (run / "unanswered.jsonl").unlink()
    assert asked(run, "select account, region, volume_id, outcome, reason from failures where what = 'volume'") == [
        ("111122223333", "us-east-1", "vol-f", "failed", "volume type gp9 has no published limits")
    ]


# ---- empty, old, killed and damaged runs


def columns(folder):
    with open_runs(folder) as database:
        return {view: [(name, str(kind)) for name, kind in database.columns(f"from {view}")] for view in VIEWS}


def test_an_empty_run_has_the_same_columns_and_no_rows(run, tmp_path):
    empty = a_run(tmp_path / "empty")
    assert columns(empty) == columns(run)
    assert [asked(empty, f"from {view}") for view in VIEWS] == [[]] * len(VIEWS)


def test_a_run_of_an_older_version_has_the_same_columns(run, tmp_path):
    expected = columns(run)
    records = json.loads((run / "recommendations.json").read_text(encoding="utf-8"))
    for record in records:
        del record["ceilings"], record["stripe_set"]
    (run / "recommendations.json").write_text(json.dumps(records, indent=2), encoding="utf-8")
    for name in ("demand.jsonl", "unanswered.jsonl", "checksums.json"):
        (run / name).unlink()
    assert columns(run) == expected
    assert asked(run, "select count(*), count(ceilings) from recommendations") == [(len(records), 0)]
    assert asked(run, "select count(*) from demand") == [(0,)]


def test_what_a_killed_run_of_an_earlier_version_left_of_a_last_line_is_no_damage(run):
    (run / "checksums.json").unlink()
    whole = asked(run, "select count(*) from demand")
    for name in ("demand.jsonl", "unanswered.jsonl"):
        with (run / name).open("a", encoding="utf-8") as file:
            file.write('{"account": "1111')
    assert asked(run, "select count(*) from demand") == whole
    assert asked(run, "select count(*) from failures") == [(3,)]


@pytest.mark.parametrize(
    ("name", "view"),
    [("recommendations.json", "recommendations"), ("demand.jsonl", "demand"), ("unanswered.jsonl", "failures")],
)
@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("text", ['[\n{"account": \n', "]]\n", '{"account": {"nested": 1}} "and more"\n'])
def test_a_damaged_file_is_named_in_one_sentence(run, name, view, text, checked):
    path = run / name
    path.write_text(text, encoding="utf-8")
    if not checked:
        (run / "checksums.json").unlink()  # as in runs of earlier versions
    with pytest.raises(BadInput) as raised:
        asked(run, f"select * exclude ({'start' if view == 'demand' else 'region'}) from {view}")
    found = str(raised.value).removeprefix(f"{path} is damaged")
    assert (
        found.removeprefix(", or checksums.json beside it is: its checksum does not fit")
        == ": move the folder away and run again."
    )


def test_a_file_that_is_still_being_written_is_to_be_waited_for(tmp_path):
    run = a_run(tmp_path / "run", [a_record()], status="running")
    (run / "recommendations.json").write_text('[\n{"account": \n', encoding="utf-8")
    with pytest.raises(BadInput, match="its run is still being written: wait until that has ended"):
        asked(run, "from recommendations")


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"holds no readable run\.json"), open_runs(tmp_path):
        pass


@pytest.mark.parametrize("name", ["a[1]", "b*", "c?", "d'q", 'e"f', "g h", "데이터"])
def test_a_folder_of_any_name_is_read_and_no_other(tmp_path, name):
    a_run(tmp_path / "a1", [a_record(volume_id="vol-other")])
    a_run(tmp_path / "bb", [a_record(volume_id="vol-other")])
    run = a_run(tmp_path / name, [a_record(volume_id="vol-own")])
    assert asked(run, "select volume_id from recommendations") == [("vol-own",)]


# ---- what may be asked


@pytest.mark.parametrize(
    "sql",
    [
        "drop view demand",
        "create table x (a int)",
        "insert into failures values (1)",
        "copy (select 1) to 'x.csv'",
        "attach 'x.db'",
        "install httpfs",
        "load httpfs",
        "set threads = 1",
        "pragma version",
        "export database 'x'",
        "select 1; select 2",
        "select 1; drop view demand",
        "",
        "  ",
        "-- nothing",
    ],
)
def test_only_one_query_that_answers_with_rows_is_taken(run, sql):
    with open_runs(run) as database, pytest.raises(BadInput, match="give one query that answers with rows"):
        database.statement(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "select 1",
        "select 1;",
        " select 1 -- and why",
        "with a as (select 1) select * from a",
        "from recommendations",
        "values (1)",
        "describe offers",
        "summarize demand",
        "pivot (select step, 1 as one from recommendations) on step using sum(one)",
        "select ';' as sign",
    ],
)
def test_every_kind_of_query_is_taken_and_answered(run, sql):
    with open_runs(run) as database:
        query = database.statement(sql)
        assert database.columns(query)
        assert list(database.rows(f"select count(*) from ({query}\n)"))


def test_a_query_cannot_leave_its_brackets(run):
    with open_runs(run) as database, pytest.raises(BadInput):
        database.statement("select 1) ; copy (select 1) to 'x.csv' ; select * from (select 1")


def test_an_error_is_one_sentence_that_names_the_views(run):
    with open_runs(run) as database, pytest.raises(BadInput) as raised:
        list(database.rows("select savings from recommendations"))
    told = str(raised.value)
    assert "savings" in told
    assert "\n" not in told
    assert told.endswith(f"The views are {', '.join(VIEWS)}.")


def test_a_users_own_file_can_be_joined_if_it_is_named(run, tmp_path, monkeypatch):
    (tmp_path / "cmdb.csv").write_text("volume,team\nvol-keep,storage\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("cmdb.csv", str(tmp_path / "cmdb.csv")):
        sql = f"select team, action from recommendations join read_csv('{name}') on volume = volume_id"
        with open_runs(run, files=[name]) as database:
            assert list(database.rows(sql)) == [("storage", "keep")]


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """A file that is none of a run's, and a database and a Parquet file with the same text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("word\nswordfish\n", encoding="utf-8")
    with duckdb.connect("secret.db") as made:
        made.execute("create table words as from 'secret.csv'")
        made.execute("copy words to 'secret.parquet' (format parquet)")
    return tmp_path


@pytest.mark.parametrize(
    "source",
    [
        "read_text('{}/secret.csv')",
        "read_blob('{}/secret.csv')",
        "read_csv('{}/secret.csv')",
        "read_csv('secret.csv')",
        "read_csv(['{}/secret.csv'])",
        "read_json('{}/secret.csv')",
        "read_parquet('{}/secret.parquet')",
        "parquet_metadata('{}/secret.parquet')",
        "sniff_csv('{}/secret.csv')",
        "'{}/secret.csv'",
        "'{}/run/../secret.csv'",
        "'file://{}/secret.csv'",
        "glob('{}/*')",
        "glob('*')",
        "read_text('{}/run/run.json')",
        "read_duckdb('{}/secret.db')",
        "query('from read_text(''{}/secret.csv'')')",
        "duckdb_secrets()",
    ],
)
def test_no_query_and_no_condition_reads_another_file(run, secret, source):
    sql = f"select * from {source.format(secret)}"
    with open_runs(run) as database:
        with pytest.raises(BadInput):
            list(database.rows(database.statement(sql)))
        with pytest.raises(BadInput):
            select(database, f"(select count(*) from ({sql})) > 0", ())


@pytest.mark.parametrize(
    "order",
    [
        "copy (select 1) to '{}/written.csv'",
        "attach '{}/secret.db'",
        "attach '{}/new.db'",
        "install httpfs",
        "load httpfs",
        "export database '{}/exported'",
        "set enable_external_access = true",
        "set allowed_paths = ['{}/secret.csv']",
        "set allowed_directories = ['{}']",
        "reset lock_configuration",
    ],
)
def test_no_order_reaches_the_machine_even_where_no_query_is_asked_for(run, secret, order):
    before = sorted(secret.iterdir())
    with open_runs(run) as database, pytest.raises(BadInput):
        database.run(order.format(secret))
    assert sorted(secret.iterdir()) == before


def test_nothing_is_fetched_and_nothing_can_be_set_to_be(run):
    with open_runs(run) as database:
        found = dict(
            database.rows(
                "select name, value from duckdb_settings() where name in ('autoinstall_known_extensions', "
                "'autoload_known_extensions', 'allow_community_extensions', 'enable_external_access', "
                "'lock_configuration')"
            )
        )
        assert found == {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }
        with pytest.raises(BadInput):
            list(database.rows("select * from read_csv('https://example.org/x.csv')"))


def test_two_runs_are_told_apart_by_their_schemas(tmp_path):
    one, other = (a_run(tmp_path / name, [a_record(volume_id=f"vol-{name}")]) for name in ("one", "other"))
    with open_runs(one, other) as database:
        assert list(database.rows("select volume_id from run_0.recommendations")) == [("vol-one",)]
        assert list(database.rows("select volume_id from run_1.recommendations")) == [("vol-other",)]
