"""Fleet files: what they hold is what is read, in batches, and what is no fleet is refused in a sentence."""

import tomllib
from pathlib import Path

import duckdb
import numpy as np
import pytest

from plimsoll.model.errors import BadInput
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.rows_fleet import fleet_of_rows
from tests.unit.backtest.fleets import write_fleet

SHIPPED = Path(__file__).parents[3] / "benchmarks" / "fleets"


def test_sums_are_read_as_rates_and_what_is_missing_stays_missing(tmp_path, monkeypatch):
    iops = np.random.default_rng(2).integers(0, 900, (7, 48)).astype(float)
    iops[3, 5:9] = np.nan
    fleet = Fleet(write_fleet(tmp_path / "fleet.npz", iops), 32)
    whole = np.concatenate([batch.rates for batch in fleet.batches()])
    assert np.allclose(whole[:, 0], iops, equal_nan=True)
    assert np.allclose(whole[:, 1], iops / 64, equal_nan=True)
    monkeypatch.setattr("plimsoll_backtest.fleet._BATCH_BYTES", 2 * 16 * 48)
    parts = list(fleet.batches())
    assert [one.first for one in parts] == [0, 2, 4, 6]
    assert np.array_equal(np.concatenate([one.rates for one in parts]), whole, equal_nan=True)


def test_the_shipped_fleets_are_what_their_page_says():
    machines = Fleet(SHIPPED / "bitbrains-rnd-250.npz", 32)
    assert (len(machines.shape.names), machines.shape.buckets, machines.shape.period_s) == (250, 26_496, 300)
    assert not machines.counts_operations
    first = next(machines.batches()).rates
    assert np.allclose(first[:, 0], 32 * first[:, 1], equal_nan=True)
    disks = Fleet(SHIPPED / "cloudphysics-53.npz", 32)
    rates = np.concatenate([batch.rates for batch in disks.batches()])
    assert (len(disks.shape.names), disks.shape.period_s, disks.counts_operations) == (53, 1800, True)
    assert np.nanmin(rates) >= 0
    assert (~np.isnan(rates)).any(axis=(1, 2)).all()


def test_uneven_spans_keep_what_was_done(tmp_path):
    ends_us = np.array([[1_000, 3_000, 3_600, 5_400, 20_000, 21_600, -1]]) * 1_000_000
    ops = np.array([[10, 20, 6, 18, 99, 7, -1]])
    sums = dict.fromkeys(("read_ops", "write_ops", "read_bytes", "write_bytes"), ops)
    np.savez(tmp_path / "uneven.npz", volume=np.array(["a"]), end_us=ends_us, **sums)
    rates = next(Fleet(tmp_path / "uneven.npz", 32).batches()).rates[0, 0]
    # Three half hours, then a span of four hours of which nobody knows when the work was done.
    assert np.allclose(rates[:3] * 1800, [2 * 18, 2 * 18, 2 * 18])
    assert np.isnan(rates[3:11]).all()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"volume,ops\n"])
def test_what_is_no_fleet_is_refused(tmp_path, content):
    (tmp_path / "fleet.npz").write_bytes(content)
    with pytest.raises(BadInput, match="benchmarks/fleets/README"):
        Fleet(tmp_path / "fleet.npz", 32)


def test_a_file_without_demand_is_refused(tmp_path):
    np.savez(tmp_path / "fleet.npz", volume=np.array(["a"]), period_s=300)
    with pytest.raises(BadInput, match="no array of demand"):
        Fleet(tmp_path / "fleet.npz", 32)


HEADER = "timestamp,volume,VolumeReadOps,VolumeWriteOps,VolumeReadBytes,VolumeWriteBytes\n"


def test_a_csv_export_becomes_a_fleet(tmp_path):
    rows = ["2026-11-01T00:00:00Z,vol-b,300,0,3145728,0", "2026-11-01T00:10:00,vol-a,600,300,0,0"]
    (tmp_path / "a.csv").write_text(HEADER + rows[0] + "\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text(HEADER + rows[1] + "\n2026-11-01T00:00:00Z,vol-a,,,,\n", encoding="utf-8")
    out = tmp_path / "fleet.npz"
    assert fleet_of_rows([tmp_path / "a.csv", tmp_path / "b.csv"], out, 300) == 2
    fleet = Fleet(out, 32)
    assert list(fleet.shape.names) == ["vol-a", "vol-b"]
    rates = next(fleet.batches()).rates
    expected = [[[np.nan, np.nan, 3.0], [np.nan, np.nan, 0.0]], [[1.0, np.nan, np.nan], [0.01, np.nan, np.nan]]]
    assert np.allclose(rates, expected, equal_nan=True)


def test_parquet_and_csv_of_the_same_rows_are_the_same_fleet(tmp_path):
    rows = [f"2026-11-01 00:{5 * at:02d}:00,vol-{at % 3},{at},{2 * at},{1024 * at},0" for at in range(12)]
    (tmp_path / "a.csv").write_text(HEADER + "\n".join(rows) + "\n2026-11-01 00:00:00,vol-1,,,,\n", encoding="utf-8")
    with duckdb.connect() as database:
        database.read_csv(str(tmp_path / "a.csv")).write_parquet(str(tmp_path / "a.parquet"))
    for kind in ("csv", "parquet"):
        assert fleet_of_rows([tmp_path / f"a.{kind}"], tmp_path / f"{kind}.npz", 300) == 3
    one, other = (next(Fleet(tmp_path / f"{kind}.npz", 32).batches()).rates for kind in ("csv", "parquet"))
    assert np.array_equal(one, other, equal_nan=True)
    assert np.nansum(one[:, 0]) * 300 == pytest.approx(sum(3 * at for at in range(12)))
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        fleet_of_rows([tmp_path / "a.parquet"], tmp_path / "fleet.npz", 300)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER, "no row"),
        ("timestamp,volume\n", "no column VolumeReadOps"),
        (HEADER + "yesterday,vol-a,1,1,1,1\n", "line 2"),
        (HEADER + "2026-11-01T00:00:00Z,a,1,1,1,1\n2026-11-01T00:00:01Z,a,1,1,1,1\n", "--period-s"),
    ],
)
def test_a_csv_that_cannot_be_used_is_refused(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=words):
        fleet_of_rows([tmp_path / "a.csv"], tmp_path / "fleet.npz", 300)


VOL_A, VOL_B = "vol-0123456789abcdef0", "vol-0aaa"
METRICS = HEADER.strip().split(",")[2:]


def csv_of(folder, rows):
    path = folder / "export.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    return path


def rates_of(path, folder):
    assert fleet_of_rows([path], folder / "fleet.npz", 300) == 2
    fleet = Fleet(folder / "fleet.npz", 32)
    assert list(fleet.shape.names) == [VOL_A, VOL_B]
    return next(fleet.batches()).rates


FOUR_SERIES = [[600, 300], [0, 300], [3145728, 3145728], [0, 0]]
"""The four sums of a volume in two periods: 2 IOPS and 0.01 MiB/s in each."""


def test_points_by_label_as_get_metric_data_has_them_become_a_fleet(tmp_path):
    times = ("2026-11-01T00:05:00+00:00", "2026-11-01T00:00:00+00:00")  # It tells the latest first.
    rows = [["Timestamp", "Label", "Value"]]
    for volume in (VOL_A, VOL_B):
        for metric, sums in zip(METRICS, FOUR_SERIES, strict=True):
            rows += [[time, f"{volume} {metric}", str(one)] for time, one in zip(times, reversed(sums), strict=True)]
    rates = rates_of(
        csv_of(tmp_path, [*rows[:-1], ["2026-11-01T00:00:00Z", f"{VOL_B} VolumeWriteBytes", ""]]), tmp_path
    )
    assert np.allclose(rates[0], [[2.0, 2.0], [0.01, 0.01]])
    assert np.allclose(rates[1], [[2.0, 2.0], [np.nan, 0.01]], equal_nan=True)


def test_columns_under_rows_of_labels_become_a_fleet(tmp_path):
    """The volume stands in one row of labels, the metric in another; what has neither is left out."""
    pairs = [(volume, metric) for volume in (VOL_A, VOL_B) for metric in METRICS]
    rows = [
        ["Full label", *(f"{volume} (data)" for volume, _ in pairs), "vol-0ccc VolumeIdleTime"],
        ["Label", *(metric for _, metric in pairs), "VolumeIdleTime"],
        ["Statistic", *["Sum"] * 9],
    ]
    for at, time in enumerate(("2026/11/01 00:00:00", "2026/11/01 00:05:00")):
        rows.append([time, *(str(sums[at]) for sums in FOUR_SERIES * 2), "5"])
    rows[3][-2] = ""
    rates = rates_of(csv_of(tmp_path, rows), tmp_path)
    assert np.allclose(rates[0], [[2.0, 2.0], [0.01, 0.01]])
    assert np.allclose(rates[1], [[2.0, 2.0], [np.nan, 0.01]], equal_nan=True)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["a", "b"], ["2026-11-01T00:00:00Z", "1"]], "no label with a volume"),
        ([["", "vol-1 VolumeReadOps"], ["", "Maximum"], ["2026-11-01T00:00:00Z", "1"]], "statistic Maximum: export"),
        ([["", "vol-1 VolumeReadOps"], ["2026-11-01T00:00:00Z", "1"]], "no VolumeWriteOps of vol-1"),
        ([["", "vol-1 VolumeReadOps"], ["2026-11-01T00:00:00Z", "much"]], "line 2: could not convert"),
        ([["", "vol-1 VolumeReadOps"], ["2026-11-01T00:00:00Z", "1"], ["late", "1"]], "line 3: Invalid isoformat"),
        ([["timestamp", "label", "value"], ["2026-11-01T00:00:00Z", "vol-1 CPU", "1"]], "'vol-1 CPU' holds no volume"),
        ([["timestamp", "label", "value"], ["2026-11-01T00:00:00Z", "vol-1"]], "line 2: it has fewer fields"),
        ([["no"] * 2] * 40, "no label with a volume"),
    ],
)
def test_an_export_that_cannot_be_used_is_refused_in_a_sentence(tmp_path, rows, words):
    with pytest.raises(BadInput, match=words):
        fleet_of_rows([csv_of(tmp_path, rows)], tmp_path / "fleet.npz", 300)


def test_wheels_do_not_carry_fleets():
    wheel = tomllib.loads((SHIPPED.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    wheel = wheel["build"]["targets"]["wheel"]
    assert not [path for path in (*wheel["packages"], *wheel["force-include"]) if "benchmarks/fleets".startswith(path)]
    assert not list((SHIPPED.parents[1] / "lib").rglob("*.npz"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_owners_is_kept(tmp_path, kind):
    head = HEADER.rstrip("\n") + ",owner\n"
    rows = [
        "2026-11-01T00:00:00,vol-a,1,0,0,0,hand",
        "2026-11-01T00:05:00,vol-a,1,0,0,0,",
        "2026-11-01T00:00:00,vol-b,1,0,0,0,",
    ]
    (tmp_path / "a.csv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    with duckdb.connect() as database:
        database.read_csv(str(tmp_path / "a.csv")).write_parquet(str(tmp_path / "a.parquet"))
    fleet_of_rows([tmp_path / f"a.{kind}"], tmp_path / "fleet.npz", 300)
    assert list(Fleet(tmp_path / "fleet.npz", 32).shape.owners) == ["hand", ""]
