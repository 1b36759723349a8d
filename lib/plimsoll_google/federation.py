"""The configuration of credentials that need no key: workload identity federation from AWS, as `gcloud` writes it.

It names a provider of a workload identity pool and holds no secret: what proves who asks is a request to AWS's STS that
the caller's own role signs (google-auth, `google.auth.aws`, 2.62, read 2026-11-22).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

CREATE: Final = "gcloud iam workload-identity-pools create-cred-config PROVIDER --aws --output-file google.json"
"""The command that writes one."""

_SECRETS: Final = ("private_key", "private_key_id", "client_secret", "refresh_token")

_LOOPBACK: Final = r"http://127\.0\.0\.1:[0-9]{1,5}"

GoogleUrl = Annotated[str, StringConstraints(pattern=rf"^(https://([a-z0-9-]+\.)+googleapis\.com|{_LOOPBACK})/")]
"""An address of Google's, which signed requests and tokens may be sent to; or of this machine's, for a rehearsal."""


class AwsSource(BaseModel):
    """The place that proves who asks: a signed request to AWS's STS.

    The addresses of an instance's metadata that `gcloud` writes as well are not asked if the environment holds
    credentials and region, as Lambda's does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    environment_id: Literal["aws1"] = "aws1"
    regional_cred_verification_url: Annotated[
        str, StringConstraints(pattern=r"^https://sts\.\{region\}\.amazonaws\.com(\.cn)?\?Action=GetCallerIdentity&")
    ]
    region_url: str | None = None
    url: str | None = None
    imdsv2_session_token_url: str | None = None


class Impersonation(BaseModel):
    """The life of a service account's token, which the caller uses."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    token_lifetime_seconds: int = Field(default=3600, ge=600, le=43_200)


class FederationConfig(BaseModel):
    """An external account of Google's whose caller is an AWS role."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    type: Literal["external_account"]
    audience: Annotated[
        str,
        StringConstraints(
            pattern=r"^//iam\.googleapis\.com/projects/[0-9]+/locations/global"
            r"/workloadIdentityPools/[a-z0-9-]{4,32}/providers/[a-z0-9-]{4,32}$"
        ),
    ]
    subject_token_type: Literal["urn:ietf:params:aws:token-type:aws4_request"]
    token_url: GoogleUrl
    token_info_url: GoogleUrl | None = None
    credential_source: AwsSource
    service_account_impersonation_url: GoogleUrl | None = None
    service_account_impersonation: Impersonation | None = None
    quota_project_id: str | None = None
    universe_domain: Literal["googleapis.com"] | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """The configuration as google-auth reads it."""
        return self.model_dump(mode="json", exclude_none=True)

    @model_validator(mode="before")
    @classmethod
    def _without_a_key(cls, values: object) -> object:
        """Refuses a key before any part of it is looked at, or repeated in an error."""
        if isinstance(values, Mapping):
            secret = next((name for name in _SECRETS if name in values), None)
            if secret is not None:
                raise ValueError(
                    f"google_credentials holds a {secret}: a key is never kept here. Delete it at Google, and give "
                    f"the configuration of a workload identity pool instead, which `{CREATE}` writes"
                )
            if values.get("type") != "external_account":
                raise ValueError(
                    f"google_credentials are of the type {values.get('type')!r}: give the configuration of a workload "
                    f"identity pool, of the type 'external_account', which `{CREATE}` writes"
                )
        return values
