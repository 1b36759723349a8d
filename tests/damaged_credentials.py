"""Answers of STS as a fault leaves them: cut, torn, doubled or strewn with bytes, and what of them is a secret."""

import random
import string

_BASE64 = string.ascii_letters + string.digits + "+/"
_JUNK = ["<", ">", "&", "\x00", "\n", "\\", "=", " ", "\u20ac", "</", "<html>", "::"]
SHORTEST = 8
"""So many characters of a secret in a row are a part of it."""


def credentials(rng: random.Random) -> dict[str, str]:
    """Credentials as STS makes them up."""
    return {
        "AccessKeyId": "ASIA" + "".join(rng.choices(string.ascii_uppercase + string.digits, k=16)),
        "SecretAccessKey": "".join(rng.choices(_BASE64, k=40)),
        "SessionToken": "".join(rng.choices(_BASE64, k=rng.randrange(200, 700))) + "==",
    }


def answer(keys: dict[str, str]) -> str:
    """The answer to AssumeRole."""
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in keys.items())
    return (
        '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>'
        "<AssumedRoleUser><AssumedRoleId>AROAEXAMPLE:plimsoll</AssumedRoleId>"
        "<Arn>arn:aws:sts::111122223333:assumed-role/plimsoll-audit/plimsoll</Arn></AssumedRoleUser>"
        f"<Credentials>{inner}<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>"
        "</AssumeRoleResult></AssumeRoleResponse>"
    )


def damaged(text: str, rng: random.Random) -> str:
    """The text after one to four kinds of damage."""
    for _ in range(rng.randrange(1, 5)):
        here, there = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        match rng.randrange(7):
            case 0:
                text = text[:there]
            case 1:
                text = text[here:]
            case 2:
                text = text[:here] + text[there:]
            case 3:
                text = text[:here] + rng.choice(_JUNK) + text[here:]
            case 4:
                text = text[:there] + text[here:there] + text[there:]
            case 5:
                text = text[:here] + text[here:there].swapcase() + text[there:]
            case 6:
                text = "".join(rng.choice(_JUNK) if rng.random() < 0.02 else each for each in text)
    return text


def parts_of(keys: dict[str, str]) -> set[str]:
    """Every part of the secrets that is long enough to be one, in either case."""
    secrets = (keys["SecretAccessKey"], keys["SessionToken"])
    plain = {one[at : at + SHORTEST] for one in secrets for at in range(len(one) - SHORTEST + 1)}
    return plain | {one.swapcase() for one in plain}


def leaked(text: str, parts: set[str]) -> set[str]:
    """What of the secrets a text has."""
    return {text[at : at + SHORTEST] for at in range(len(text) - SHORTEST + 1)} & parts
