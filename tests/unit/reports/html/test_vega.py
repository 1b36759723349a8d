"""The page's own drawing: the files that ship are those that the locked Altair and vl-convert make."""

from plimsoll.reports.html.page import vega
from tests.unit.reports.html.vega_files import files_for_page


def test_what_ships_is_what_the_locked_versions_make() -> None:
    for name, text in files_for_page().items():
        assert vega(name) == text, f"{name} is out of date: make pictures"
