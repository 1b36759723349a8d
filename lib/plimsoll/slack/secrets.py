"""Slack's two secrets as Secrets Manager holds them: JSON with the signing secret and the bot token."""

from typing import Final

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from plimsoll.domain.errors import BadInput

_SHAPE: Final = '{"signing_secret": "...", "bot_token": "xoxb-..."}'


class SlackSecrets(BaseModel):
    """What Slack signs its requests with, and what the app calls Slack with."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    signing_secret: SecretStr = SecretStr("")
    bot_token: SecretStr = SecretStr("")


def secret_in(written: str, key: str, name: str) -> str:
    """One of the secrets in what is written under `name`; BadInput, which shows none of it, where it is missing."""
    try:
        found: SecretStr = getattr(SlackSecrets.model_validate_json(written), key)
    except ValidationError:
        # The error that this comes from would carry the secret along.
        raise _unusable(name, "is no JSON of that shape") from None
    value = found.get_secret_value().strip()
    if not value:
        raise _unusable(name, f"has no {key}")
    return value


def _unusable(name: str, fault: str) -> BadInput:
    return BadInput(
        f"the secret {name!r} {fault}: put {_SHAPE} there, with the values of the app's pages at api.slack.com/apps "
        f"(aws secretsmanager put-secret-value --secret-id {name} --secret-string file://slack.json)."
    )
