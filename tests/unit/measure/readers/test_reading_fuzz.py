"""Whatever a file holds, reading it gives results or BadInput in one sentence, and never anything else."""

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.model.errors import BadInput
from plimsoll_measure.readers.reading import read_output
from tests.unit.measure.readers.outputs import OLD_JSON, OLD_SYSBENCH, OLD_TEXT, a_job, fio_json

SEEDS = Path(__file__).parents[3] / "seeds"
TERSE = ";".join(
    ["3", "fio-3.33", "b", "1", "0"]
    + (["2404", "1201", "124", "2001", *["9.5"] * 8, *[f"{percent}.0%=42" for percent in range(1, 21)], *["9"] * 9] * 2)
    + ["0.2%", "1.0%", "498", "0", "15", "vda", "55903", "52584", "389", "0", "7850", "4747", "12603", "49.19%"]
)
OUTPUTS = [
    *((SEEDS / f"{name}-article.txt").read_text(encoding="utf-8") for name in ("000", "001", "002")),
    OLD_JSON,
    OLD_TEXT,
    OLD_SYSBENCH,
    TERSE,
    fio_json(a_job("one"), a_job("two", 1, options={"rate_iops": "3"})),
]
MARKS = '{ } [ ] "fio version" "jobs" : , ; null true 1e999 -nan NaN "\\ud800" \x00 err= 9 % / -1 0 . ='
WORDS = [
    *MARKS.split(" "),
    "9" * 5000,
    "3;fio-3.33;a;0;0;",
    "x: (groupid=0, jobs=1): err= 0: pid=1: ",
    "read: IOPS=",
    "sysbench fileio run",
    "General statistics:",
]


def check(text: str) -> None:
    try:
        output = read_output(text, name="out")
    except BadInput as error:
        refused = str(error)
    else:
        refused = ""
        assert output.results or output.profiles
    assert "\n" not in refused
    for one in [] if refused else output.results:
        assert one.fault is not None or (one.iops is not None and one.throughput_mib_s is not None)
        assert one.job.block_kib > 0
        assert all(value >= 0 for _, value in one.latency.percentiles_us)


def test_the_outputs_that_are_spoilt_here_are_read_whole():
    for text in OUTPUTS:
        read_output(text, name="out")


@given(st.text())
def test_any_text(text):
    check(text)


@given(st.lists(st.sampled_from(WORDS), max_size=30), st.sampled_from(["", " ", "\n"]))
def test_any_heap_of_what_outputs_are_made_of(words, between):
    check(between.join(words))


@given(st.sampled_from(OUTPUTS), st.floats(0, 1), st.floats(0, 1))
def test_any_piece_of_an_output(text, start, end):
    low, high = sorted((int(start * len(text)), int(end * len(text))))
    check(text[low:high])


@given(st.sampled_from(OUTPUTS), st.floats(0, 1), st.sampled_from(OUTPUTS), st.floats(0, 1))
def test_any_two_outputs_spliced(one, cut, other, from_):
    check(one[: int(cut * len(one))] + other[int(from_ * len(other)) :])


@given(
    st.sampled_from(OUTPUTS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(WORDS) | st.text(max_size=3)), max_size=6),
)
@example(fio_json(a_job("\ud800")), [])
@example(fio_json(a_job(group=10**30)), [])
@example(OLD_TEXT.replace("iops=3000", "iops=" + "9" * 400), [])
@example(OLD_TEXT.replace("ios=30010/4", "ios=" + "9" * 5000 + "/4"), [])
@example(OLD_SYSBENCH.replace("1200.50", "9" * 5000), [])
@example(OLD_SYSBENCH.replace("60.0300s", "0.0s"), [])
def test_any_output_with_anything_changed(text, changes):
    for where, length, put in changes:
        at = int(where * len(text))
        text = text[:at] + put + text[at + length :]
    check(text)


@given(st.sampled_from(["{", "[", ":", " ", ";", "9", "a", "th=[", "3;", "bs=", "--a ", "(g=0): rw=x, "]))
def test_a_long_monotone_file_is_refused_as_well(word):
    for text in OUTPUTS[3:]:
        check(text[: len(text) // 2] + word * 20_000 + text[len(text) // 2 :])
