"""What validations measured, kept in a store and brought back as the folder that audits read."""

from datetime import timedelta

import pytest

from plimsoll.clouds.local_store import FolderStore
from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.envelopes.library import load_library
from plimsoll.model.errors import BadInput
from plimsoll_service.shared_measurements import StoreVerdicts, bring_measurements
from tests.builders import NOW
from tests.pipelines.lab import TYPES, Lab


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with one campaign and its verdict, as `plimsoll validate` leaves it."""
    lab = Lab(tmp_path_factory.mktemp("measured"))
    lab.validate()
    return lab.book


def keep(store, book, line):
    StoreVerdicts(store).keep(book.folder / f"{line.campaign}.yaml", line)


def the_line(book):
    (line,) = book.lines()
    return line


def test_what_was_kept_comes_back_as_the_folder_that_a_validation_leaves(measured, tmp_path):
    store, here = FolderStore(tmp_path / "store"), tmp_path / "here"
    keep(store, measured, the_line(measured))
    bring_measurements(store, here)
    assert list(ValidationBook(folder=here).lines()) == list(measured.lines())
    before, after = (load_library([folder], TYPES, at="anywhere").envelopes for folder in (measured.folder, here))
    assert after == before


def test_nothing_measured_yet_is_an_empty_folder(tmp_path):
    here = tmp_path / "here"
    bring_measurements(FolderStore(tmp_path / "store"), here)
    assert list(ValidationBook(folder=here).lines()) == []
    assert not load_library([here], TYPES).envelopes


def test_keeping_twice_changes_nothing(measured, tmp_path):
    store = FolderStore(tmp_path / "store")
    for _ in range(2):
        keep(store, measured, the_line(measured))
    assert StoreVerdicts(store).lines() == [the_line(measured)]
    assert len(list(store.keys(""))) == 2


def test_verdicts_are_joined_in_the_order_of_time_whatever_they_are_called(measured, tmp_path):
    store, line = FolderStore(tmp_path / "store"), the_line(measured)
    later = line.model_copy(update={"id": "a-later-one", "at": NOW + timedelta(days=1)})
    for one in (later, line):
        keep(store, measured, one)
    bring_measurements(store, tmp_path / "here")
    assert [one.id for one in ValidationBook(folder=tmp_path / "here").lines()] == [line.id, later.id]


def test_what_is_here_already_is_not_brought_again_and_what_was_withdrawn_goes(measured, tmp_path):
    store, here, line = FolderStore(tmp_path / "store"), tmp_path / "here", the_line(measured)
    keep(store, measured, line)
    bring_measurements(store, here)
    campaign = here / f"{line.campaign}.yaml"
    stamp = campaign.stat().st_mtime_ns
    store.put("measured/stripes.json", b"[]")
    bring_measurements(store, here)
    assert campaign.stat().st_mtime_ns == stamp
    assert (here / "stripes.json").read_bytes() == b"[]"
    for key in list(store.keys("measured/")):
        store.delete(key)
    bring_measurements(store, here)
    assert [path.name for path in here.iterdir() if path.is_file()] == ["validations.jsonl"]
    assert list(ValidationBook(folder=here).lines()) == []


def test_a_damaged_verdict_is_named(tmp_path):
    store = FolderStore(tmp_path / "store")
    store.put("measured/validations/v-1.jsonl", b'{"id": 1')
    with pytest.raises(BadInput, match=r"the verdict .*v-1\.jsonl cannot be read"):
        bring_measurements(store, tmp_path / "here")


def test_a_learned_table_is_brought_as_it_is_now_and_goes_when_it_is_gone(tmp_path):
    store, here = FolderStore(tmp_path / "store"), tmp_path / "here"
    for content in (b"one", b"another"):
        store.put("measured/learned.json", content)
        bring_measurements(store, here)
        assert (here / "learned.json").read_bytes() == content
    store.delete("measured/learned.json")
    bring_measurements(store, here)
    assert not (here / "learned.json").exists()
