"""Volumes by what people call them: the surest way counts, several are listed, and an unknown name has its nearest."""

import pytest

from plimsoll.model.errors import BadInput
from plimsoll.model.volume_names import MOST_LISTED, NamedVolume, choose_volume, nearest_hint, quote_word

LEDGER = NamedVolume("111122223333", "eu-west-1", "vol-0a1b2c3d4e5f60718", "ledger-db")
QUEUE = NamedVolume("111122223333", "eu-west-1", "vol-0a1bffff4e5f60718", "queue of\n orders")
OTHER = NamedVolume("444455556666", "us-east-1", "vol-0c000000000000000", "ledger-db")
NAMELESS = NamedVolume("444455556666", "us-east-1", "vol-0d")
FLEET = (LEDGER, QUEUE, NAMELESS)


def chosen(word, *volumes):
    return choose_volume(word, ((volume, volume) for volume in volumes))


@pytest.mark.parametrize(
    ("word", "volume"),
    [
        (LEDGER.id, LEDGER),
        (LEDGER.full, LEDGER),
        ("ledger-db", LEDGER),
        ("queue of orders", QUEUE),
        ("queue o…", QUEUE),
        ("vol-0a1b2", LEDGER),
        ("vol-0d", NAMELESS),
        ("vol-0d ", NAMELESS),
        ("444455556666/us-east-1/vol-0", NAMELESS),
        ("111122223333/eu-west-1/ledger-db", LEDGER),
        ("111122223333/eu-west-1/queue o…", QUEUE),
        ("444455556666/us-east-1/ledger-db", None),
        ("ledger", None),
        ("LEDGER-DB", None),
        ("", None),
        (" ", None),
        ("…", None),
        ("0a1b2", None),
        ("None", None),
    ],
)
def test_a_word_means_the_volume_that_has_it_as_id_name_or_beginning(word, volume):
    assert chosen(word, *FLEET) == volume


@pytest.mark.parametrize("word", ["vol-0d", "ledger-db"])
def test_an_id_counts_alone(word):
    """A volume may be named as another's id is, and an id may be how another begins."""
    exact = NamedVolume("1", "r", word)
    named = NamedVolume("1", "r", "vol-9", word)
    longer = NamedVolume("1", "r", f"{word}0", "x")
    assert chosen(word, longer, named, exact) == exact
    assert chosen(word, named) == named
    assert chosen(word, longer) == longer
    with pytest.raises(BadInput, match="2 volumes"):
        chosen(word, longer, named)


def test_an_id_that_is_a_name_of_another_volume_is_not_found_by_that_name():
    """Tools name a restored volume after the one it was restored from."""
    restored = NamedVolume("1", "r", "vol-0b000000000000000", "vol-0a000000000000000")
    assert chosen("vol-0a000000000000000", restored) is None
    assert chosen("vol-0a000000000000000", restored._replace(id="data-1")) is not None


@pytest.mark.parametrize(
    ("word", "volumes"), [("ledger-db", (LEDGER, OTHER)), ("vol-0a1b", (LEDGER, QUEUE)), (LEDGER.id, (LEDGER, LEDGER))]
)
def test_several_are_listed_with_place_id_and_name(word, volumes):
    with pytest.raises(BadInput) as refused:
        chosen(word, *volumes, NAMELESS)
    for volume in volumes:
        assert f"{volume.account}/{volume.region}/{volume.id} ({' '.join(volume.name.split())})" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_long_list_is_cut_and_counted():
    with pytest.raises(BadInput) as refused:
        chosen("vol-", *(NamedVolume("1", "r", f"vol-{number}") for number in range(1000)))
    assert str(refused.value).count("1/r/vol-") == MOST_LISTED
    assert "1,000 volumes" in str(refused.value)
    assert "990 others" in str(refused.value)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("ledgr-db", f"did you mean ledger-db ({LEDGER.id})?"),
        ("LEDGER-DB", f"did you mean ledger-db ({LEDGER.id})?"),
        (LEDGER.id.replace("2", "9"), f"did you mean {LEDGER.id}?"),
        ("zzz", ""),
        ("", ""),
        ("zenith-web", ""),
        ("111122223333/eu-west-1/ledgr-db", f"did you mean ledger-db ({LEDGER.id})?"),
        ("444455556666/us-east-1/ledgr-db", ""),
    ],
)
def test_an_unknown_word_has_the_nearest_id_or_name(word, hint):
    assert nearest_hint(word, FLEET) == hint


@pytest.mark.parametrize(
    ("word", "quoted"), [("", '""'), ("a\n b", "a b"), ("x" * 80, "x" * 80), ("x" * 81, "x" * 80 + "…")]
)
def test_a_word_is_repeated_on_one_line_and_cut(word, quoted):
    assert quote_word(word) == quoted
