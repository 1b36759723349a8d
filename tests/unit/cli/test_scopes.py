"""The scope that options name: which clouds are asked, and what is said of options that mean another."""

import json
import re
from dataclasses import fields
from datetime import date

import pytest
import typer
from typer.testing import CliRunner

from plimsoll.cli.option_groups import with_option_groups
from plimsoll.cli.option_values import ScopeFile, policy_from, read_scope_file, scope_from
from plimsoll.cli.options import AwsOptions, GoogleOptions, PolicyFileOptions, PolicyOptions, ScopeOptions
from plimsoll.cli.run_volume import live_from
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import OPT_OUT, Exclusion, Policy, TagMatch


def scope(*, region=None, cloud=None, profile=None, **google):
    aws, of_google = AwsOptions(profile=profile), GoogleOptions(**google)
    return scope_from(ScopeOptions(cloud=cloud, region=region, aws=aws, google=of_google))


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Writes a scope file into the folder that is current then."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "plimsoll.yaml").write_text(text, encoding="utf-8")

    return write


BOTH = """
clouds: [aws, gcp]
profiles: [shop, data]
projects: shop-prod
regions: [EU-West-1, europe-west1]
prices: prices.json
"""


def test_a_scope_file_says_what_no_option_does(file, tmp_path):
    file(BOTH)
    assert scope() == Scope(
        clouds=(AWS, GOOGLE),
        profiles=("shop", "data"),
        projects=("shop-prod",),
        regions=("eu-west-1", "europe-west1"),
        prices=str(tmp_path / "prices.json"),
    )


@pytest.mark.parametrize(
    ("options", "clouds", "profiles", "projects", "regions"),
    [
        ({"region": ["us-east-1"]}, (AWS, GOOGLE), ("shop", "data"), ("shop-prod",), ("us-east-1",)),
        ({"profile": ["dev"]}, (AWS,), ("dev",), (), ("eu-west-1",)),
        ({"cloud": ["google"]}, (GOOGLE,), (), (), ("europe-west1",)),
        ({"cloud": ["google"], "project": ["p"], "region": ["x"]}, (GOOGLE,), (), ("p",), ("x",)),
    ],
)
def test_options_replace_the_files_regions_or_all_of_its_accounts(file, options, clouds, profiles, projects, regions):
    file(BOTH)
    asked = scope(**options)
    assert (asked.clouds, asked.profiles, asked.projects, asked.regions) == (clouds, profiles, projects, regions)


def test_an_account_of_the_file_keeps_its_zeros_and_a_switch_is_one(file):
    file("accounts: [012345670123, 111122223333]\nrole_name: reader\n")
    assert (scope().accounts, scope().role_name) == (("012345670123", "111122223333"), "reader")
    file("organization: true\nunits: []\n")
    assert scope().organization is True


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("region: [eu-west-1]\n", "has no key region: did you mean regions?"),
        ("xyz: 1\n", "has no key xyz: it knows "),
        ("- regions\n", "must be a mapping"),
        ("regions: {a: b}\n", "regions is {'a': 'b'}: give a name"),
        ("clouds: [azure]\n", "there is no cloud azure"),
        ("organization: maybe\n", "it must be true or false"),
        ("accounts: [12]\n", "an account is 12 digits"),
        ("projects: [p]\nclouds: [google]\nregions: [eu-west-1]\n", "--region eu-west-1 is for --cloud aws"),
        ("role_name: x\n", "--role-name goes with"),
        ("exclude: vol-1\n", "exclude must be a list"),
        ("policy: 7\n", "give the path of a policy file"),
        ("prices:\n", "prices is ''"),
        ("a: *b\n", "cannot be read"),
    ],
)
def test_what_a_scope_file_cannot_mean_is_refused(file, text, said):
    file(text)
    with pytest.raises(BadInput, match=re.escape(said)):
        scope()


def test_the_files_policy_holds_under_options_and_its_exclusions_beside_another(file, tmp_path):
    (tmp_path / "rules.yaml").write_text("headroom_pct: 40\nexclude: [{tag: lab}]\n", encoding="utf-8")
    entry = "exclude: [{volume: ledger-db, reason: a license, until: 2027-01-31}]\n"
    excluded = Exclusion(volume="ledger-db", reason="a license", until=date(2027, 1, 31))
    lab = Exclusion(match=TagMatch(tag="lab"))
    file(f"policy: rules.yaml\n{entry}")
    named = policy_from(PolicyFileOptions(set_=["headroom_pct=30"]))
    assert (named.headroom_pct, named.exclude) == (30.0, (lab, excluded))
    file(f"policy: {{headroom_pct: 50}}\n{entry}")
    assert policy_from(PolicyFileOptions()) == Policy(headroom_pct=50.0, exclude=(OPT_OUT, excluded))
    given = policy_from(PolicyFileOptions(policy=tmp_path / "rules.yaml"))
    assert (given.headroom_pct, given.exclude) == (40.0, (lab, excluded))


def test_a_file_above_is_found_only_within_the_repository(tmp_path, monkeypatch):
    inner = tmp_path / "repository" / "team"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    (tmp_path / "plimsoll.yaml").write_text("profiles: [strangers]\n", encoding="utf-8")
    (tmp_path / "repository" / "plimsoll.yaml").write_text("profiles: [ours]\n", encoding="utf-8")
    assert read_scope_file() == ScopeFile()
    (tmp_path / "repository" / ".git").mkdir()
    assert read_scope_file().scope == {"profiles": ("ours",)}


def test_a_volume_is_shown_of_a_run_where_only_the_file_names_accounts(file):
    file("profiles: [shop]\n")
    assert live_from(None, None, PolicyOptions(), ScopeOptions(), fresh=False) is None
    live = live_from(None, None, PolicyOptions(), ScopeOptions(), fresh=True)
    assert live is not None
    assert live[0].profiles == ("shop",)


def test_aws_is_asked_where_no_cloud_is_named():
    assert scope_from(ScopeOptions()) == Scope()
    assert Scope().clouds == (AWS,)


def test_clouds_are_asked_in_the_order_they_are_named_and_each_once():
    assert scope(cloud=["google", "aws", "google"], project=["shop-prod"]).clouds == (GOOGLE, AWS)


def test_what_is_named_twice_is_covered_once():
    """A region named twice would double the volumes, their money and the calls that are billed."""
    lists = [one.name for one in fields(Scope) if isinstance(one.default, tuple)]
    scope = Scope(**dict.fromkeys(lists, ("b", "a", "b")))
    assert {name: getattr(scope, name) for name in lists} == dict.fromkeys(lists, ("b", "a"))
    assert Scope(regions=["b", "a", "b"]).regions == ("b", "a")


def test_a_region_is_read_as_people_write_it():
    assert scope(region=[" EU-West-1 ", "eu-west-1"]).regions == ("eu-west-1",)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"region": [""]}, "a name among the regions is empty"),
        ({"profile": [" "]}, "a name among the profiles is empty"),
        ({"region": ["europe-west1"]}, "--region europe-west1 is for --cloud google"),
        ({"region": ["eu-west-1"], "cloud": ["google"]}, "--region eu-west-1 is for --cloud aws"),
    ],
)
def test_a_name_that_is_empty_or_of_a_cloud_that_is_not_asked_is_refused(given, told):
    with pytest.raises(BadInput, match=re.escape(told)):
        scope(**given)


def test_a_scope_of_both_clouds_comes_back_from_a_run_as_it_was_given():
    given = scope(
        cloud=["aws", "google"],
        profile=["prod"],
        project=["shop-prod"],
        folder=["1"],
        google_organization=["2"],
        region=["x"],
    )
    assert Scope.from_dict(json.loads(json.dumps(given.as_dict()))) == given


def test_a_run_of_an_earlier_version_asked_aws_alone():
    written = {
        key: value for key, value in Scope(profiles=("prod",)).as_dict().items() if key in {"profiles", "regions"}
    }
    assert Scope.from_dict(written) == Scope(profiles=("prod",))


def test_a_run_that_calls_google_gcp_is_still_read():
    written = {"clouds": ["aws", "gcp"], "gcp_organizations": ["2"]}
    assert Scope.from_dict(written) == Scope(clouds=(AWS, GOOGLE), google_organizations=("2",))


@pytest.mark.parametrize("words", [["--cloud", "gcp"], ["--cloud", "google"]])
def test_the_command_line_takes_both_names_of_google(words):
    app = typer.Typer()
    asked = []

    @app.command()
    @with_option_groups
    def ask(scope: ScopeOptions):
        asked.extend(scope.cloud)

    assert CliRunner().invoke(app, words).exit_code == 0
    assert asked == [GOOGLE]
    assert CliRunner().invoke(app, ["--cloud", "azure"]).exit_code == 2


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"project": ["shop-prod"]},
            r"--project is for --cloud google, which is not asked: .* or leave --project out",
        ),
        ({"folder": ["1"]}, "--folder is for --cloud google"),
        ({"google_organization": ["1"]}, "--google-organization is for --cloud google"),
        ({"cloud": ["google"], "profile": ["prod"]}, "--profile is for --cloud aws, which is not asked"),
    ],
)
def test_an_option_about_a_cloud_that_is_not_asked_is_refused(given, sentence):
    with pytest.raises(BadInput, match=sentence):
        scope(**given)


def test_the_earlier_name_of_a_google_organization_is_still_taken():
    both = scope(cloud=["google"], google_organization=["1"], gcp_organization=["2"])
    assert both.google_organizations == ("1", "2")


def test_regions_go_to_the_cloud_that_has_them_where_both_are_asked():
    both = scope(
        cloud=["aws", "google"], region=["eu-west-1", "us-gov-east-1", "europe-west1", "northamerica-northeast2"]
    )
    assert both.regions_of(AWS) == ("eu-west-1", "us-gov-east-1")
    assert both.regions_of(GOOGLE) == ("europe-west1", "northamerica-northeast2")


def test_a_region_goes_as_it_is_to_the_only_cloud_so_that_a_wrong_one_is_refused_there():
    assert scope(cloud=["google"], region=["moon"]).regions_of(GOOGLE) == ("moon",)
    assert scope(region=["moon"]).regions_of(AWS) == ("moon",)


def test_a_run_keeps_no_external_id_and_asks_for_it_again():
    given = scope_from(
        ScopeOptions(aws=AwsOptions(role_arn=["arn:aws:iam::111122223333:role/r"], external_id="s3cret"))
    )
    kept = json.loads(json.dumps(given.as_dict()))
    assert "s3cret" not in json.dumps(kept)
    assert Scope.from_dict(kept, external_id="s3cret") == given
    with pytest.raises(BadInput, match="give --external-id again"):
        Scope.from_dict(kept)


def test_an_external_id_that_an_earlier_version_kept_is_read_and_not_kept_on():
    earlier = {"role_arns": ["arn:aws:iam::111122223333:role/r"], "external_id": "s3cret"}
    found = Scope.from_dict(earlier)
    assert found.external_id == "s3cret"
    assert "s3cret" not in json.dumps(found.as_dict())
