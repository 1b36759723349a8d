"""Credentials without a key: Google's tokens in exchange for the caller's AWS role, as the environment holds it."""

from typing import Final

from google.auth import aws
from google.auth.exceptions import GoogleAuthError

from plimsoll.clouds.google.federation import FederationConfig
from plimsoll.domain.errors import BadInput

SCOPES: Final = (
    "https://www.googleapis.com/auth/cloud-platform.read-only",
    "https://www.googleapis.com/auth/compute.readonly",
    "https://www.googleapis.com/auth/monitoring.read",
    "https://www.googleapis.com/auth/cloud-billing.readonly",
)
"""What a token is good for: reading, whatever roles its holder has. One scope for each of the APIs: Resource Manager,
Compute Engine, Cloud Monitoring and Cloud Billing (AUTH_SCOPES of their clients, and for Compute Engine the scopes of
`disks.aggregatedList`, read 2026-11-22)."""


def keyless_credentials(config: FederationConfig) -> aws.Credentials:
    """Credentials that prove the AWS role of this process to Google by a signed request; nothing is asked yet.

    Access key, session token and region come from AWS's own environment variables, which Lambda sets. BadInput where
    google-auth cannot use the configuration.
    """
    try:
        found: aws.Credentials = aws.Credentials.from_info(  # type: ignore[no-untyped-call]  # google-auth has no types
            config.written, scopes=list(SCOPES)
        )
    except (GoogleAuthError, ValueError) as error:
        raise BadInput(
            f"google_credentials cannot be used: {error}. Write them anew with `gcloud iam workload-identity-pools "
            "create-cred-config`, and deploy the service again."
        ) from error
    return found
