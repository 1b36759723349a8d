"""Option groups: a dataclass becomes the options of every command that takes it."""

import inspect
from dataclasses import fields

import pytest
import typer
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.cli.options import AwsOptions, GoogleOptions, PolicyOptions, ScopeOptions

SCOPED = ["audit", "explain", "validate", "sweep", "chart demand", "chart roofline"]


def command(words):
    found = typer.main.get_command(app)
    for word in words.split():
        found = found.commands[word]
    return found


def flags(words):
    return {flag for option in command(words).params for flag in option.opts}


@pytest.mark.parametrize("words", SCOPED)
def test_every_command_on_a_scope_takes_every_option_of_a_scope(words):
    wanted = {field.name for group in (AwsOptions, GoogleOptions) for field in fields(group)} | {"cloud", "region"}
    assert {f"--{name.replace('_', '-')}" for name in wanted} <= flags(words)


def test_a_command_on_aws_alone_takes_no_option_of_another_cloud():
    assert not flags("stripes") & {"--cloud", "--project", "--folder", "--google-organization"}


@pytest.mark.parametrize("words", ["audit", "chart demand"])
def test_help_shows_the_options_of_a_group_under_its_name(words):
    shown = CliRunner().invoke(app, [*words.split(), "--help-all"]).output
    for group in (ScopeOptions, AwsOptions, GoogleOptions, PolicyOptions):
        assert f"─ {group.PANEL} ─" in shown


def test_what_was_given_is_named_as_people_write_it():
    given = AwsOptions(role_arn=["arn:aws:iam::111122223333:role/plimsoll-audit"], organization=True)
    assert given.used_flags() == ["--role-arn", "--organization"]
    assert GoogleOptions(google_organization=["1"]).used_flags() == ["--google-organization"]
    assert PolicyOptions(set_=["headroom_pct=30"]).used_flags() == ["--set"]


def test_a_command_keeps_its_name_and_its_help():
    audit = command("audit")
    assert audit.name == "audit"
    assert inspect.cleandoc(audit.help).startswith("Find what each volume should be")
