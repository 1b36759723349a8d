"""What AWS says, in Plimsoll's words: errors with their remedy, owners, changes, prices and links."""

import json
import re
from urllib.parse import unquote

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ProfileNotFound

from plimsoll.clouds.aws.change import change_text, command_line
from plimsoll.clouds.aws.console import console_link
from plimsoll.clouds.aws.errors import translate
from plimsoll.clouds.aws.limits import verified_on, volume_types
from plimsoll.clouds.aws.owners import owner_of
from plimsoll.clouds.aws.price_file import load_prices, shipped_prices
from plimsoll.clouds.aws.prices import prices_in
from plimsoll.clouds.aws.sessions import check_regions
from plimsoll.domain.errors import (
    AccessDenied,
    BadCredentials,
    BadInput,
    ClockSkewed,
    RegionUnavailable,
    Throttled,
    Unexpected,
    Unreachable,
)
from plimsoll.domain.sums import Window
from plimsoll.domain.volume import Owner, OwnerKind, VolumeSpec
from tests.builders import NOW, a_volume

GP3 = VolumeSpec(type="gp3", size_gib=500, iops=4000, throughput_mib_s=250)


def refusal(code, message="no"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "DescribeVolumes")


@pytest.mark.parametrize(
    ("error", "kind", "remedy"),
    [
        (refusal("UnauthorizedOperation"), AccessDenied, "deploy the member role"),
        (refusal("AccessDeniedException"), AccessDenied, "ec2:DescribeVolumes"),
        (refusal("ExpiredToken"), BadCredentials, "Sign in again"),
        (refusal("InvalidClientTokenId"), BadCredentials, "Sign in again"),
        (refusal("OptInRequired"), RegionUnavailable, "leave it out with --region"),
        (refusal("AuthFailure"), RegionUnavailable, "switched off"),
        (refusal("RequestTimeTooSkewed"), ClockSkewed, "Set the clock"),
        (refusal("SignatureDoesNotMatch", "Signature expired: it is late"), ClockSkewed, "Set the clock"),
        (refusal("SignatureDoesNotMatch"), BadCredentials, "Sign in again"),
        (refusal("RequestLimitExceeded"), Throttled, "--resume"),
        (refusal("Client.RequestLimitExceeded"), Throttled, "--resume"),
        (refusal("SomethingNew", "over\nlines"), Unexpected, "over lines"),
        (NoCredentialsError(), BadCredentials, "aws sso login"),
        (ProfileNotFound(profile="x"), BadCredentials, "--profile"),
        (EndpointConnectionError(endpoint_url="https://x"), Unreachable, "Check the network"),
    ],
)
def test_each_error_is_one_sentence_with_place_and_remedy(error, kind, remedy):
    found = translate(error, "111122223333/eu-west-1", "ec2:DescribeVolumes")
    assert type(found) is kind
    assert "111122223333/eu-west-1" in str(found)
    assert remedy in str(found)
    assert "\n" not in str(found)


def test_a_region_that_is_none_is_refused_with_the_nearest():
    check_regions(["us-east-1", "eu-central-2"])
    with pytest.raises(BadInput, match="no AWS region eu-wets-1: did you mean eu-west-1"):
        check_regions(["eu-wets-1"])


@pytest.mark.parametrize(
    ("tags", "host_tags", "kind", "name"),
    [
        ({"aws:cloudformation:stack-name": "billing"}, {}, OwnerKind.CLOUDFORMATION, "billing"),
        ({"ManagedBy": "Terraform"}, {}, OwnerKind.TERRAFORM, None),
        ({"terraform": "true", "terraform-module": "data"}, {}, OwnerKind.TERRAFORM, "data"),
        (
            {"kubernetes.io/created-for/pvc/name": "pg-0", "kubernetes.io/created-for/pvc/namespace": "shop"},
            {},
            OwnerKind.KUBERNETES,
            "shop/pg-0",
        ),
        ({}, {"aws:autoscaling:groupName": "workers"}, OwnerKind.AUTO_SCALING, "workers"),
        ({}, {"aws:ec2launchtemplate:id": "lt-1"}, OwnerKind.AUTO_SCALING, "lt-1"),
        ({"team": "terraformers anonymous"}, {}, OwnerKind.HAND, None),
    ],
)
def test_owners_are_told_by_what_their_tools_leave(tags, host_tags, kind, name):
    found = owner_of(tags, host_tags, None)
    assert (found.kind, found.name) == (kind, name)


def test_an_operator_owns_whatever_else_the_tags_say():
    assert owner_of({"terraform": "true"}, {}, "eks.amazonaws.com").kind is OwnerKind.OPERATOR


@pytest.mark.parametrize("kind", list(OwnerKind))
def test_every_change_names_its_figures_and_what_undoes_it(kind):
    owner = Owner(kind=kind, name="shop", details={"claim": "pg-0", "namespace": "shop", "launch_template": "lt-1"})
    text = change_text(a_volume("gp2", 500, owner=owner), GP3)
    figures = "gp3 500 GiB 4,000 IOPS 250 MiB/s" if kind is OwnerKind.OPERATOR else "4000"
    assert figures in text
    assert re.search(r"drift|brings the old|still get|refuses|change it there too", text)


def test_the_command_line_always_names_iops_and_throughput_and_quotes():
    line = command_line(a_volume("gp2", 500, id="vol-1; rm -rf /"), GP3)
    assert line.endswith("--volume-type gp3 --iops 4000 --throughput 250")
    assert "'vol-1; rm -rf /'" in line


def test_a_kubernetes_change_is_a_class_and_a_patch_of_the_claim():
    owner = Owner(kind=OwnerKind.KUBERNETES, name="shop/pg-0", details={"claim": "pg-0", "namespace": "shop"})
    text = change_text(a_volume("gp2", 500, owner=owner), GP3)
    assert "kind: VolumeAttributesClass" in text
    assert "kubectl -n shop patch pvc pg-0" in text


def row(usagetype, unit, usd, *, location="AWS Region", term="OnDemand"):
    dimension = {"unit": unit, "pricePerUnit": {"USD": str(usd)}}
    terms = {term: {"a": {"priceDimensions": {"b": dimension}}}}
    return {"product": {"attributes": {"usagetype": usagetype, "locationType": location}}, "terms": terms}


def test_price_list_rows_become_prices_and_decoys_do_not():
    found = prices_in(
        [
            row("APN1-EBS:VolumeUsage.gp3", "GB-Mo", 0.096),
            row("APN1-EBS:VolumeP-IOPS.gp3", "IOPS-Mo", 0.006),
            row("APN1-EBS:VolumeP-Throughput.gp3", "GiBps-mo", 49.152),
            row("USE1-BOS1-EBS:VolumeUsage.gp3", "GB-Mo", 0.5, location="AWS Local Zone"),
            row("EBS:VolumeUsage.gp2", "GB-Mo", 9.9, term="Reserved"),
            row("EBS:VolumeUsage.piops", "GB-Mo", 0.125),
            row("EBS:VolumeP-IOPS.piops", "IOPS-Mo", 0.065),
            row("EBS:VolumeUsage.io2", "GB-month", 0.125),
            row("EBS:VolumeP-IOPS.io2", "IOPS-Mo", 0.065),
            row("EBS:VolumeP-IOPS.io2.tier2", "IOPS-Mo", 0.0455),
            row("EBS:VolumeP-IOPS.io2.tier3", "IOPS-Mo", 0.03185),
            row("EBS:VolumeUsage", "GB-Mo", 0.05),
            row("EBS:VolumeIOUsage", "IOs", 5e-8),
            row("EBS:SnapshotUsage", "GB-Mo", 0.05),
        ]
    )
    assert set(found) == {"gp3", "io1", "io2", "standard"}
    assert found["gp3"].throughput_mib_s_month == pytest.approx(0.048)
    assert found["gp3"].gib_month == 0.096
    assert found["io2"].iops_tiers == ((32000.0, 0.065), (64000.0, 0.0455), (None, 0.03185))
    assert found["standard"].million_io == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("regions: [", "not YAML"),
        ("- a list", "the whole file"),
        ("verified_on: 2026-01-01\nsources: {}\nregions: {x: {source: nowhere}}", "not under sources"),
        ("verified_on: 2026-01-01\nsources: {}\nregions: {x: {source: y, gp2: {gib: 1}}}", "regions.x.gp2"),
    ],
)
def test_a_garbled_price_file_is_refused_with_the_place(tmp_path, text, where):
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(where)):
        load_prices(path)


def test_shipped_figures_are_of_this_year():
    assert (NOW.date() - verified_on()).days < 365
    assert (NOW.date() - shipped_prices().verified_on).days < 365
    assert shipped_prices().book("mx-central-1") is None


def test_every_shipped_price_is_of_a_published_type():
    for region in shipped_prices().regions:
        book = shipped_prices().book(region)
        assert book is not None
        assert set(book.types) <= set(volume_types())


def test_the_console_link_shows_the_period_expressions():
    link = console_link(a_volume(), Window(start_s=0, end_s=3600))
    graph = json.loads(unquote(link.split("graph=")[1]))
    expressions = [found[0]["expression"] for found in graph["metrics"] if isinstance(found[0], dict)]
    assert expressions == ["(FILL(m1,0)+FILL(m2,0))/60", "(FILL(m3,0)+FILL(m4,0))/1048576/60"]
