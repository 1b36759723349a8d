"""Hiding: a possible secret is neither kept nor shown, recognized by its look, whatever names it or fails to.

An answer may be cut or damaged anywhere, so that a tag no longer says what stands in it. So a text with any trace of
credentials is not kept at all, and elsewhere whatever has the shape of a key or a token is hidden.
"""

import re
from typing import Final

HIDDEN: Final = "(hidden)"
ALL_HIDDEN: Final = f"{HIDDEN}: this answer may hold credentials"

UNKEPT: Final = frozenset({"sts", "sso", "sso-oidc", "secretsmanager"})
"""AWS's services that answer with credentials or secrets: no answer of theirs is kept or quoted."""

_NAMED: Final = re.compile(
    r"token|secret|password|credential|authorization|signature|external.?id|access.?key", re.IGNORECASE
)
_NAMED_TEXT: Final = re.compile(rf"((?:{_NAMED.pattern})[\w.-]*[\"']?\s*[>:=]\s*[\"']?)[^<>\"',&\s}}]+", re.IGNORECASE)
"""A secret and what names it, in XML, JSON or a form that nobody could parse."""


def _shapes(shortest: int) -> re.Pattern[str]:
    """A pattern for keys and tokens: `shortest` or more capitals, small letters and digits in a row."""
    return re.compile(
        rf"""\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{{8,}}       # AWS's access keys
          | \bya29\.[\w./+=-]+ | \beyJ[\w-]{{10,}}(?:\.[\w-]*)*      # Google's tokens, and those of OpenID
          | \bx(?:ox[a-z]|app)-[\w-]+                               # Slack's
          | -----BEGIN[^-]*PRIVATE\ KEY-----.*
          | \bb(?:'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$))  # bytes that an error quotes: what was on the wire
          | (?<![A-Za-z0-9+/])(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])(?=[A-Za-z+/]*\d)
            [A-Za-z0-9+/]{{{shortest},}}={{0,2}}
        """,
        re.VERBOSE | re.DOTALL,
    )


_SHOWN: Final = _shapes(20)
_KEPT: Final = _shapes(12)
"""Nobody needs to read a kept text at once: names that only look like a token may be hidden there."""

_TRACES: Final = re.compile(
    r"""A[KS]IA[A-Z0-9]{8} | assume.?role | access.?key | secret.?access | session.?token | security.?token
      | credentials\b | access.?token | refresh.?token | \bid.?token | private.?key | secret.?string
      | sts\.[\w.-]*amazonaws
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Traces of credentials, of which damage leaves one or another."""

_STRUCTURED: Final = re.compile(r"[<{\[\s:,]")


def is_named_secret(name: str) -> bool:
    """True if a field's name says that its value is a secret."""
    return _NAMED.search(name) is not None


def without_secrets(text: str) -> str:
    """A sentence or an answer with `(hidden)` in place of possible secrets."""
    return _SHOWN.sub(HIDDEN, _NAMED_TEXT.sub(rf"\g<1>{HIDDEN}", text))


def kept_text(text: str) -> str:
    """The same for a text that is kept: nothing of it if it may hold credentials, or has the look of a key or a token.

    The text around a token may be the rest of it.
    """
    shown = _NAMED_TEXT.sub(rf"\g<1>{HIDDEN}", text)
    return ALL_HIDDEN if _TRACES.search(text) or _KEPT.search(shown) else shown


def is_one_word(text: str) -> bool:
    """True if an answer has no structure at all, like a piece of a token."""
    return _STRUCTURED.search(text) is None
