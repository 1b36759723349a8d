"""Seals: a file of one JSON object, such as run.json, has the checksum of its own content within."""

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

_SEAL: Final = "checksum"


def add_seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Some content with its checksum."""
    plain = {name: value for name, value in content.items() if name != _SEAL}
    return {**plain, _SEAL: _seal(json.loads(json.dumps(plain)))}  # keys and lists as they are read back


def check_seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same without it. ValueError if it does not fit; earlier versions wrote none."""
    plain = {name: value for name, value in content.items() if name != _SEAL}
    if _SEAL in content and content[_SEAL] != _seal(plain):
        raise ValueError("its checksum does not fit")
    return plain


def _seal(plain: Mapping[str, Any]) -> str:
    """The CRC-32 of values as JSON, in whichever order and layout a file has them."""
    return f"{zlib.crc32(json.dumps(plain, sort_keys=True, separators=(',', ':')).encode()):08x}"
