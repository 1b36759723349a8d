"""What takes long to make is made once for a user, and always where nothing can be kept."""

import stat

import pytest

from plimsoll.reports.charts.bundle import javascript_bundle
from plimsoll.reports.charts.drawing import BUNDLED_BY, bundled
from plimsoll.reports.charts.kept import kept

TEXT = "drawn()\n\u2028é\r\n"


@pytest.fixture
def makings():
    return []


@pytest.fixture
def made(makings):
    def make():
        makings.append(TEXT)
        return TEXT

    return make


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "plimsoll"


def test_a_text_is_made_once_and_stays_as_it_is(made, makings, folder):
    assert [kept("text.js", made) for _ in range(3)] == [TEXT] * 3
    assert len(makings) == 1
    assert [file.name for file in folder.iterdir()] == ["text.js"]


def test_another_name_is_another_text(made, makings):
    assert kept("a.js", made) == kept("b.js", made)
    assert len(makings) == 2


@pytest.mark.parametrize("damage", [b"", b"drawn()", b"\xff\xfe", "0" * 64 + "\ndrawn()\n"])
def test_what_is_damaged_is_made_anew_and_then_kept(made, makings, folder, damage):
    folder.mkdir(parents=True)
    (folder / "text.js").write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    assert kept("text.js", made) == kept("text.js", made) == TEXT
    assert len(makings) == 1


def test_half_of_a_text_is_not_taken_for_it(made, makings, folder):
    kept("text.js", made)
    whole = (folder / "text.js").read_bytes()
    (folder / "text.js").write_bytes(whole[:-3])
    assert kept("text.js", made) == TEXT
    assert (folder / "text.js").read_bytes() == whole


def test_where_nothing_can_be_kept_it_is_made_every_time(made, makings, folder):
    folder.parent.mkdir()
    folder.write_text("no folder")
    assert [kept("text.js", made) for _ in range(2)] == [TEXT] * 2
    assert len(makings) == 2


def test_a_user_without_a_home_has_it_made_every_time(made, makings, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setattr("plimsoll.reports.charts.kept.Path.home", no_home)
    assert [kept("text.js", made) for _ in range(2)] == [TEXT] * 2
    assert len(makings) == 2


def no_home():
    raise RuntimeError("Could not determine home directory.")


def test_without_a_folder_named_it_is_in_the_home(made, monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    kept("text.js", made)
    assert stat.S_ISREG((tmp_path / ".cache" / "plimsoll" / "text.js").stat().st_mode)


def test_the_script_is_kept_as_vl_convert_made_it(folder):
    made = javascript_bundle()
    assert (folder / f"vega-{BUNDLED_BY}.js").read_bytes().decode().partition("\n")[2] == made
    assert made == javascript_bundle() == bundled()
