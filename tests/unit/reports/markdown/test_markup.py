"""Names in Markdown are shown as they are: no tag, link, mention or table of theirs comes into being."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.reports.markdown.markup import MOST_FENCED, MOST_NAME, fence, name, prose, table
from plimsoll.reports.printable import printable
from tests.unit.reports.markdown.rendered import shown
from tests.unit.reports.strategies import HOSTILE, names

UNSEEN = "\u200b"
GITHUB_LINKS = re.compile(r"@\w|#\d|\bGH-\d|https?://\w|\bwww\.\w|(?<!\w):[a-z0-9_+-]*[a-z+-][\w+-]*:")


def words(text: str) -> str:
    return " ".join(text.replace(UNSEEN, "").split())


def plain(text: str) -> str:
    """The text on one line, with escapes for the signs that no page can show."""
    return words(printable(" ".join(text.split())))


hostile = st.one_of(names, st.lists(st.sampled_from(HOSTILE), max_size=3).map(" ".join)).filter(
    lambda text: len(text) < MOST_NAME
)


@given(hostile)
@example("``")
@example("`")
@example("a`")
@example("\\")
def test_a_name_is_shown_as_it_is_in_a_paragraph(text):
    page = shown(f"Volume {name(text)} of ours")
    assert words(page.text) == words(f"Volume {plain(text)} of ours")
    assert page.tags == (["p", "code"] if plain(text) or text.strip() else ["p"])


@given(hostile)
@example("1. one")
@example("+ one")
@example("=")
@example("--- ")
@example("a:smile: b")
def test_a_sentence_is_shown_as_it_is_and_nothing_in_it_is_a_link(text):
    page = shown(f"- {prose(text)}\n- next")
    assert words(page.text) == words(f"{plain(text)} next")
    assert page.tags == ["ul", "li", "li"]
    assert not GITHUB_LINKS.search(page.outside)
    assert not re.search(r"\$(?!\d)", prose(text)), "only money has a dollar sign, and no formula does"


@given(st.lists(st.tuples(hostile, hostile), min_size=1, max_size=4))
@example([("a|b", "\\|")])
@example([("\\", "a\\")])
def test_a_table_keeps_its_rows_and_columns_whatever_is_in_them(pairs):
    page = shown(table(("name", "why:"), [(name(one), prose(other)) for one, other in pairs]))
    assert [tag for tag in page.tags if tag != "code"] == (
        ["table", "thead", "tr", "th", "th", "tbody"] + ["tr", "td", "td"] * len(pairs)
    )
    expected = " ".join(["name why", *(f"{plain(one)} {plain(other)}" for one, other in pairs)])
    assert words(page.text) == words(expected)


@given(st.text("ab`~ \n\t<>&@\\", max_size=200))
@example("```\nrm -rf /\n```")
@example("````")
def test_a_text_to_copy_is_there_line_by_line_in_one_fence(text):
    page = shown(f"Before\n\n{fence(text)}\nAfter")
    assert page.tags == ["p", "pre", "code", "p"]
    inside = page.text.removeprefix("Before\n").removesuffix("\nAfter\n")
    assert inside.strip("\n") == "\n".join(text.splitlines()).strip("\n")


@pytest.mark.parametrize("sign", ["x", "@", "|", "`", "\U0001f4be"])
def test_what_is_too_long_is_cut(sign):
    assert len(shown(name(sign * 5_000)).text.strip()) <= MOST_NAME
    assert len(fence(sign * 100_000)) < 3 * MOST_FENCED + 200
