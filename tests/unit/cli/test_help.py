"""What a reader meets first: help without types of Python, the version, and completion of the shell."""

import os
import re
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import plimsoll
from plimsoll.cli.commands.listing import PANELS
from plimsoll.cli.listed import commands_of
from plimsoll.cli.main import app


def every_command(found=None, words=()):
    """The words of every command and group of commands, the program itself first."""
    found = typer.main.get_command(app) if found is None else found
    yield words
    for name, below in getattr(found, "commands", {}).items():
        yield from every_command(below, (*words, name))


def words_of(text):
    return set(re.findall(r"[\w-]{2,}", text))


def shown(*words, columns=80):
    done = CliRunner().invoke(app, [*words], prog_name="plimsoll", env={"COLUMNS": str(columns), "TERM": "dumb"})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("words", [*every_command()], ids=" ".join)
def test_help_names_no_types_of_python_fits_80_columns_and_breaks_no_word(words):
    """At 300 columns no word is broken. Each word of 80 columns stands there too."""
    narrow, wide = (shown(*words, "--help", columns=columns) for columns in (80, 300))
    assert re.findall(r"<(?:list|bool|str|int|float|path)\b[^>]*>?", wide) == []
    assert max(map(len, narrow.splitlines())) <= 80
    assert words_of(narrow) <= words_of(wide)


def test_an_argument_is_shown_by_its_name():
    assert "Usage: plimsoll validate [OPTIONS] [VOLUME]" in shown("validate", "--help")


@pytest.mark.parametrize(
    ("words", "shown_as"),
    [("diff", "BEFORE AFTER"), ("chart roofline", "NAME..."), ("query", "[RUN] [SQL]"), ("fleet", "[FILE...]")],
)
def test_a_usage_line_has_no_braces(words, shown_as):
    assert f"Usage: plimsoll {words} [OPTIONS] {shown_as} " in shown(*words.split(), "--help")


@pytest.mark.parametrize(
    "words", [("permissions", "--format", "wrong"), ("serve", "--port", "99999999"), ("validate", "--mode", "wrong")]
)
def test_a_wrong_value_is_told_without_words_of_a_library(words):
    done = CliRunner().invoke(app, [*words], env={"COLUMNS": "160", "TERM": "dumb"})
    assert done.exit_code == 2
    assert words[1] in done.output
    assert not re.search("value error|input should", done.output, re.IGNORECASE)


def test_help_is_a_command_too():
    assert shown("help", "chart", "demand") == shown("chart", "demand", "--help")


def test_the_version_is_that_of_the_package():
    assert shown("--version") == f"plimsoll {plimsoll.__version__}\n"


@pytest.mark.parametrize(("words", "offered"), [("plimsoll rep", "report"), ("plimsoll audit --resu", "--resume")])
def test_the_shell_completes_commands_and_options(words, offered):
    asked = {"_PLIMSOLL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['plimsoll']; from plimsoll.cli.main import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == ([offered], "")


def test_what_help_lists_without_importing_it_is_what_each_command_says_itself():
    every = typer.main.get_command(app).commands
    assert {name: every[name].help.partition("\n\n")[0] for name in every} == {
        **{name: one.summary for name, one in commands_of(PANELS).items()},
        "help": every["help"].help,
    }
