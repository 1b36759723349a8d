"""A list of AWS may have empty pages, and ends where nothing else comes."""

from itertools import count

import pytest

from plimsoll.clouds.aws.lists import MOST_EMPTY, Asker, Page
from plimsoll.model.errors import Endless


class Things(Page):
    things: tuple[str, ...]


def read(pages):
    asker = Asker(place="a place", sleep=lambda _seconds: None)
    return [one for page in asker.pages(Things, lambda **_: next(pages), "a:List") for one in page.things]


def test_a_few_empty_pages_change_nothing():
    some = [{"Things": [], "NextToken": str(number)} for number in range(MOST_EMPTY - 1)]
    assert read(iter([*some, {"Things": ["a"], "NextToken": "b"}, {"Things": ["c"]}])) == ["a", "c"]


def test_empty_pages_without_an_end_are_given_up():
    asked = count()
    with pytest.raises(Endless, match="had nothing"):
        read({"Things": [], "NextToken": str(number)} for number in asked)
    assert next(asked) == MOST_EMPTY
