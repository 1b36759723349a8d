"""Settings: the environment's, under what the caller gives."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from plimsoll.model.errors import BadInput
from plimsoll.settings import Settings


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"PLIMSOLL_{name.upper()}", raising=False)


def test_an_environment_that_says_nothing_leaves_the_defaults():
    assert Settings() == Settings.model_construct()


def test_the_environment_is_read_when_settings_are_made(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", "/somewhere/else")
    monkeypatch.setenv("PLIMSOLL_PARALLEL_CALLS", "3")
    settings = Settings()
    assert (settings.runs_dir, settings.parallel_calls) == (Path("/somewhere/else"), 3)


def test_what_is_given_stands_over_the_environment(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_CALLS_PER_S", "50")
    assert Settings(calls_per_s=7).calls_per_s == 7


def test_a_value_out_of_bounds_and_an_unknown_name_are_refused(monkeypatch):
    with pytest.raises(ValidationError):
        Settings(pace=1)
    monkeypatch.setenv("PLIMSOLL_PARALLEL_CALLS", "65")
    with pytest.raises(ValidationError):
        Settings()


def test_a_variable_that_cannot_be_used_is_named_with_its_value_and_the_reason(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_POLL_S", "often")
    with pytest.raises(BadInput) as raised:
        Settings.from_environment()
    assert str(raised.value).startswith("the environment variable PLIMSOLL_POLL_S is 'often': input should be a valid")
    monkeypatch.delenv("PLIMSOLL_POLL_S")
    assert Settings.from_environment() == Settings()


def test_tags_are_pairs_with_commas_and_those_of_plimsoll_are_nobody_elses(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_TAGS", "team=storage,cost center=a=b,empty=")
    assert Settings.from_environment().tags == {"team": "storage", "cost center": "a=b", "empty": ""}
    wrong = ("team", "=x", " =x", "a=1,a=2", "aws:x=1", "Plimsoll:bench=true", "plimsoll-scratch=x", f"{'k' * 129}=x")
    for text in wrong:
        monkeypatch.setenv("PLIMSOLL_TAGS", text)
        with pytest.raises(BadInput, match=r"PLIMSOLL_TAGS.*cannot be used: write key=value once"):
            Settings.from_environment()
    monkeypatch.setenv("PLIMSOLL_TAGS", ",".join(f"k{number}=v" for number in range(41)))
    with pytest.raises(BadInput, match="41 tags are too many"):
        Settings.from_environment()


def test_other_variables_of_the_prefix_are_left_alone(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_SOMETHING", "1")
    assert Settings() == Settings.model_construct()


def test_googles_variables_are_taken_by_their_earlier_names_too(monkeypatch):
    monkeypatch.setenv("PLIMSOLL_GCP_CALLS_PER_S", "5")
    assert Settings().google_calls_per_s == 5
    monkeypatch.setenv("PLIMSOLL_GOOGLE_CALLS_PER_S", "7")
    assert Settings().google_calls_per_s == 7
