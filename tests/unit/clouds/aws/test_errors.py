"""Errors of AWS and botocore: each code its class, each sentence its place, permission and remedy."""

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    NoRegionError,
    PartialCredentialsError,
    ProxyConnectionError,
    ReadTimeoutError,
    SSLError,
    UnauthorizedSSOTokenError,
)
from botocore.parsers import ResponseParserError

from plimsoll.clouds.aws.errors import CLEANING, MEASURING, cloud_error, translate_errors
from plimsoll.clouds.aws.errors import REMEDIES as REFUSALS
from plimsoll.clouds.aws.sessions import Credential, Sessions, check_regions, known_regions
from plimsoll.model.errors import (
    AccessDenied,
    BadCredentials,
    BadInput,
    ClockSkewed,
    CloudError,
    DeniedByPolicy,
    RegionUnavailable,
    Throttled,
    Unexpected,
    Unreachable,
)

PLACE = "111122223333/eu-west-1"
WHAT = f"read {PLACE}"
PERMISSION = "ec2:DescribeVolumes"

CODES = {
    AccessDenied: ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "Forbidden", "NotAuthorized"],
    BadCredentials: [
        "InvalidClientTokenId",
        "UnrecognizedClientException",
        "InvalidAccessKeyId",
        "ExpiredToken",
        "ExpiredTokenException",
        "MissingAuthenticationToken",
        "IncompleteSignature",
        "InvalidToken",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
    ],
    RegionUnavailable: ["OptInRequired", "AuthFailure", "InvalidRegion", "RegionDisabledException"],
    ClockSkewed: ["RequestTimeTooSkewed", "RequestInTheFuture"],
    Throttled: ["Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"],
    Unexpected: ["InternalFailure", "ServiceUnavailable", ""],
}

REMEDIES = {
    AccessDenied: "allow the action",
    BadCredentials: "Sign in again",
    RegionUnavailable: "leave it out (--region; in the service, its regions)",
    ClockSkewed: "Set the clock",
    Throttled: "go on with the same run later (--resume; in the service, its run_id)",
    Unexpected: "It is left out of the audit",
}


def refusal(code, message="no"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "DescribeVolumes")


@pytest.mark.parametrize(("kind", "code"), [(kind, code) for kind, codes in CODES.items() for code in codes])
@pytest.mark.parametrize("prefix", ["", "Client."])
def test_each_code_has_its_class_place_and_remedy(kind, code, prefix):
    found = cloud_error(refusal(prefix + code), WHAT, PERMISSION)
    assert type(found) is kind
    assert PLACE in str(found)
    assert REMEDIES[kind] in str(found)


@pytest.mark.parametrize("kind", [AccessDenied, Throttled, Unexpected])
def test_where_a_permission_matters_it_is_named(kind):
    for code in CODES[kind]:
        assert PERMISSION in str(cloud_error(refusal(code), WHAT, PERMISSION))


@pytest.mark.parametrize(
    "message",
    [
        "Signature expired: 20261120T100000Z is now earlier than 20261120T104500Z (20261120T110000Z - 15 min.)",
        "Signature not yet current: 20261120T120000Z is still later than 20261120T111500Z (20261120T110000Z + 15 min.)",
    ],
)
@pytest.mark.parametrize("code", ["InvalidSignatureException", "SignatureDoesNotMatch"])
def test_a_clock_an_hour_off_either_way_is_told_from_wrong_credentials(code, message):
    assert type(cloud_error(refusal(code, message), WHAT, PERMISSION)) is ClockSkewed


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectTimeoutError(endpoint_url="https://x"), Unreachable),
        (ReadTimeoutError(endpoint_url="https://x"), Unreachable),
        pytest.param(ProxyConnectionError(proxy_url="http://proxy"), Unreachable),
        pytest.param(SSLError(endpoint_url="https://x", error="self-signed"), Unreachable),
        (PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"), BadCredentials),
        (UnauthorizedSSOTokenError(), BadCredentials),
        pytest.param(CredentialRetrievalError(provider="p", error_msg="exit 1"), BadCredentials),
        (NoRegionError(), BadCredentials),
    ],
)
def test_what_botocore_raises_itself_has_its_class_too(error, kind):
    found = cloud_error(error, WHAT, PERMISSION)
    assert type(found) is kind
    assert PLACE in str(found)


@pytest.mark.parametrize("message", ["", "a\nb\r\n  c", "Traceback (most recent call last):\n  File", "x" * 300])
def test_a_message_is_one_line_whatever_aws_said(message):
    for codes in CODES.values():
        for code in codes:
            text = str(cloud_error(refusal(code, message), WHAT, PERMISSION))
            assert len(text.splitlines()) == 1
            assert text.endswith(".")


def test_a_block_raises_the_translated_error_and_lets_others_through():
    with pytest.raises(AccessDenied, match=PERMISSION), translate_errors(WHAT, PERMISSION):
        raise refusal("UnauthorizedOperation")
    with pytest.raises(ZeroDivisionError), translate_errors(WHAT, PERMISSION):
        _ = 1 / 0


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_what_is_refused_to_a_measurement_says_what_to_do_about_it(code):
    found = cloud_error(refusal(code, "too\nmuch."), "attach vol-1", "ec2:AttachVolume", MEASURING)
    assert type(found) is CloudError
    assert str(found).startswith(f"cannot attach vol-1: {code}: too much. {REFUSALS[code]}.")


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_an_audit_has_no_remedies_of_a_measurement(code):
    assert type(cloud_error(refusal(code), WHAT, PERMISSION)) is Unexpected


@pytest.mark.parametrize("purpose", [MEASURING, CLEANING])
@pytest.mark.parametrize("code", sorted({code for codes in CODES.values() for code in codes} | set(REFUSALS)))
def test_a_measurements_errors_speak_of_no_audit(code, purpose):
    text = str(cloud_error(refusal(code), "delete vol-1", "ec2:DeleteVolume", purpose))
    assert text.startswith("cannot delete vol-1: ")
    assert text.endswith(".")
    assert "udit" not in text
    assert "--resume" not in text


def test_an_attempt_raises_its_own_sentence():
    told = r"cannot delete vol-1: .*plimsoll sweep"
    with pytest.raises(AccessDenied, match=told), translate_errors("delete vol-1", "ec2:DeleteVolume", CLEANING):
        raise refusal("UnauthorizedOperation")


@pytest.mark.parametrize(("given", "near"), [("us-esat-1", "us-east-1"), ("eu-central1", "eu-central-1")])
def test_a_misspelt_region_is_refused_with_the_nearest(given, near):
    with pytest.raises(BadInput, match=near):
        check_regions(["us-east-1", given])


def test_a_region_like_none_is_refused_with_where_the_list_is():
    with pytest.raises(BadInput, match="describe-regions"):
        check_regions(["Atlantis"])


def test_regions_of_all_partitions_are_known():
    check_regions(["ap-northeast-2", "us-gov-west-1", "cn-north-1"])
    assert list(known_regions()) == sorted(set(known_regions()))


@pytest.fixture
def nobody(monkeypatch, tmp_path):
    """A machine on which nobody has signed in."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.mark.parametrize(
    "credential",
    [
        Credential(),
        Credential(profile="missing"),
        pytest.param(Credential(role_arn="arn:aws:iam::111122223333:role/audit")),
        Credential(profile="missing", role_arn="arn:aws:iam::111122223333:role/audit", external_id="x"),
    ],
    ids=str,
)
def test_where_nobody_signed_in_each_way_in_fails_by_name(nobody, credential):
    sessions = Sessions(attempts=1, connections=1)
    sessions.sign_in([credential])
    (failed,) = sessions.failed
    assert failed.name == str(credential)
    assert type(failed.error) is BadCredentials
    assert "aws sso login" in str(failed.error)


def test_an_answer_that_botocore_cannot_parse_is_unexpected():
    with pytest.raises(Unexpected, match=PLACE), translate_errors(WHAT, PERMISSION):
        raise ResponseParserError("Unable to parse response (unclosed token: line 1, column 0)")


SAID = "User: arn:aws:sts::1:assumed-role/p is not authorized to perform: ec2:DescribeVolumes with an explicit deny in "
DENIALS = {
    "a service control policy": (DeniedByPolicy, False),
    "a resource control policy": (DeniedByPolicy, False),
    "an identity-based policy": (AccessDenied, True),
    "a permissions boundary": (AccessDenied, True),
    "a session policy": (AccessDenied, True),
}


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "AccessDenied", "AccessDeniedException"])
@pytest.mark.parametrize("policy", DENIALS)
def test_who_denies_is_repeated_and_a_role_advised_only_where_one_helps(policy, code):
    kind, advised = DENIALS[policy]
    error = cloud_error(ClientError({"Error": {"Code": code, "Message": f"{SAID}{policy}."}}, "x"), WHAT, PERMISSION)
    assert type(error) is kind
    assert f"explicit deny in {policy}" in str(error)
    assert ("deploy the member role" in str(error)) == advised
