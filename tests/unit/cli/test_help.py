"""What a reader meets first: help without types of Python, the version, and completion of the shell."""

import os
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import plimsoll
from plimsoll import cli
from plimsoll.cli.listed import PANELS, find_commands
from plimsoll.cli.main import app
from plimsoll.cli.plain_help import split_lists
from plimsoll.wings import find_folders


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


def test_the_first_screen_has_eight_commands_three_examples_and_the_names_of_all():
    screen = shown("--help")
    assert 24 <= len(screen.rstrip().splitlines()) <= 30
    first = ("audit", "demo", "explain", "report", "serve", "diff", "validate", "permissions")
    assert tuple(re.findall(r"^│ ([a-z]+) {2,}\S", screen, re.MULTILINE)) == first
    assert len(re.findall(r"^ +plimsoll [a-z]+", screen, re.MULTILINE)) == 3
    assert set(find_commands()) <= words_of(screen)
    assert shown("-h") == screen
    everything = shown("--help-all")
    assert all(f"─ {panel} ─" in everything for panel in PANELS)


@pytest.mark.parametrize(
    "words", [("audit",), ("explain",), ("validate",), ("chart", "demand"), ("learn",), ("benchmark",)]
)
def test_a_long_help_shows_what_most_need_and_names_the_rest(words):
    folded, everything = shown(*words, "-h"), shown(*words, "--help-all")
    described = re.findall(r"^│ (--[\w-]+)", folded, re.MULTILINE)
    assert len(described) <= 14
    assert f"plimsoll {' '.join(words)} --help-all" in folded
    flags = set(re.findall(r"^│ (--[\w-]+)", everything, re.MULTILINE))
    assert flags == {flag for flag in re.findall(r"--[\w-]+", folded) if flag in flags}
    assert len(flags) > 12


def test_help_of_an_audit_describes_ten_options():
    described = re.findall(r"^│ (--[\w-]+)", shown("audit", "--help"), re.MULTILINE)
    scope = {"--cloud", "--region", "--profile", "--organization", "--project"}
    assert {*described} == scope | {"--policy", "--out", "--plan", "--validate", "--fail-over", "--help"}


@pytest.mark.parametrize(
    ("words", "split"),
    [
        (["--region", "a,b"], ["--region", "a", "--region", "b"]),
        (["--region=a, b,", "--region", "c"], ["--region", "a", "--region", "b", "--region", "c"]),
        (["--set", "target_types=gp3,io2"], ["--set", "target_types=gp3,io2"]),
        (["--profile", ","], ["--profile", ""]),
        (["--region"], ["--region"]),
        (["--", "--region", "a,b"], ["--", "--region", "a,b"]),
        (
            ["--role-arn", "arn:aws:iam::1:role/a,b, arn:aws:iam::2:role/c"],
            ["--role-arn", "arn:aws:iam::1:role/a,b", "--role-arn", "arn:aws:iam::2:role/c"],
        ),
    ],
)
def test_a_list_may_stand_in_one_word(words, split):
    assert split_lists(words, typer.main.get_command(app).commands["audit"].params) == split


def test_a_list_of_clouds_reaches_the_command():
    done = CliRunner().invoke(app, ["audit", "--cloud", "aws,moon"], env={"COLUMNS": "160", "TERM": "dumb"})
    assert (done.exit_code, "'moon' is not one of" in done.output) == (2, True)


@pytest.mark.parametrize("words", ["audit --dry-run --fail-over 1", "audit --plan --fail-over 1"])
def test_a_dry_run_is_a_plan(words):
    done = CliRunner().invoke(app, words.split())
    assert "--plan finds no savings" in str(done.exception)


def test_help_is_a_command_too():
    assert shown("help", "chart", "demand") == shown("chart", "demand", "--help")


def test_the_version_is_that_of_the_package():
    assert shown("version") == shown("--version") == f"plimsoll {plimsoll.__version__}\n"


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
    listed = find_commands()
    assert {name: command.help.partition("\n\n")[0] for name, command in every.items()} == {
        name: command.summary for name, command in listed.items()
    }
    assert {command.panel for command in listed.values()} == set(PANELS)


def test_every_module_that_has_a_command_is_listed():
    folders = {cli.__name__: Path(cli.__path__[0]), **find_folders("cli")}
    modules = {
        info.name: import_module(f"{package}.{info.name}")
        for package, folder in folders.items()
        for info in pkgutil.iter_modules([str(folder)])
    }
    commands = {name.replace("_", "-") for name, module in modules.items() if hasattr(module, f"{name}_command")}
    assert commands == set(find_commands())


def test_a_new_file_is_a_new_command_where_it_says_so(tmp_path):
    listed_line = '_LISTED: Final = ("{}", {})'
    files = {
        "write_off.py": ('"""Write off what is old: all of it."""', listed_line.format("Audit", 1)),
        "audit.py": ('"""Audit what there is.\n\nSlowly.\n"""', listed_line.format("Audit", 2)),
        "help.py": ('"""Help with what\nnobody knows."""', listed_line.format("Help", 1)),
        "swim.py": ('"""Swim."""', listed_line.format("Sports", 1)),
        "screen.py": ('"""No command."""', 'NAMED_ALIKE: Final = ("Audit", 3)'),
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n\n".join([*lines, "raise ValueError('imported')\n"]), encoding="utf-8")
    assert [*find_commands({"a.wing": tmp_path}).items()] == [
        ("write-off", ("a.wing.write_off", "Audit", "Write off what is old: all of it.")),
        ("audit", ("a.wing.audit", "Audit", "Audit what there is.")),
        ("help", ("a.wing.help", "Help", "Help with what nobody knows.")),
        ("swim", ("a.wing.swim", "Sports", "Swim.")),
    ]


def test_a_module_that_is_no_command_is_none():
    done = CliRunner().invoke(app, ["screen"], env={"COLUMNS": "160", "TERM": "dumb"})
    assert (done.exit_code, "No such command 'screen'" in done.output) == (2, True)
