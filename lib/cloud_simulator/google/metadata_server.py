"""Metadata servers: what a simulated VM reads of its metadata, and the guest attributes that it writes.

One server stands for those of all VMs; each has its own under `/PROJECT/ZONE/NAME` (VmKey.path).
"""

import hashlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qsl, urlsplit

_ROOT: Final = "computeMetadata/v1/instance"
_LONGEST_WAIT_S: Final = 30.0


@dataclass(frozen=True, slots=True, order=True)
class VmKey:
    """Which VM."""

    project: str
    zone: str
    name: str

    @property
    def path(self) -> str:
        """Where its metadata server is on the one server."""
        return f"/{self.project}/{self.zone}/{self.name}"

    @property
    def word(self) -> str:
        """It as a part of a file's name."""
        return f"{self.project}.{self.zone}.{self.name}"


@dataclass(slots=True)
class VmData:
    """A VM's custom metadata and guest attributes."""

    metadata: dict[str, str] = field(default_factory=dict)
    guest: dict[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """What changes with the metadata; Compute Engine's are base64 as well."""
        return hashlib.sha256(repr(sorted(self.metadata.items())).encode()).hexdigest()[:16]


@dataclass(slots=True)
class Metadata:
    """The metadata of all VMs; threads wait for changes."""

    _vms: dict[VmKey, VmData] = field(default_factory=dict, repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)
    _closed: bool = False

    def of(self, vm: VmKey, given: Mapping[str, str] | None = None) -> VmData:
        """A VM's own, as it is now: a copy. `given` is what its metadata hold before anybody changed them."""
        with self._changed:
            found = self._vms.setdefault(vm, VmData(dict(given or {})))
            return VmData(dict(found.metadata), dict(found.guest))

    def set(self, vm: VmKey, items: Mapping[str, str], fingerprint: str) -> bool:
        """Replaces a VM's metadata; False where the fingerprint is not that of what is there."""
        with self._changed:
            found = self._vms.setdefault(vm, VmData())
            if fingerprint != found.fingerprint:
                return False
            found.metadata = dict(items)
            self._changed.notify_all()
            return True

    def write(self, vm: VmKey, key: str, value: str | None) -> None:
        """Writes a guest attribute, or removes it (None)."""
        with self._changed:
            guest = self._vms.setdefault(vm, VmData()).guest
            guest.pop(key, None)
            if value is not None:
                guest[key] = value

    def awaited(self, vm: VmKey, key: str, last_etag: str, timeout_s: float) -> tuple[str, str] | None:
        """A value and its etag: at once where it is another than the last, else when it changes or the time is up."""
        end = time.monotonic() + min(timeout_s, _LONGEST_WAIT_S)
        with self._changed:
            while True:
                value = self._vms.setdefault(vm, VmData()).metadata.get(key)
                if value is None:
                    return None
                etag = hashlib.sha256(value.encode()).hexdigest()[:16]
                if etag != last_etag or self._closed or not self._changed.wait(end - time.monotonic()):
                    return value, etag

    def close(self) -> None:
        """Lets everybody go who waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class _Asked(BaseHTTPRequestHandler):
    """One request of a VM."""

    server: "_Server"

    def do_GET(self) -> None:
        """A value of the custom metadata, perhaps awaited."""
        vm, kind, key, query = self._where()
        if kind != "attributes" or vm is None:
            self._say(404, "")
            return
        waits = query.get("wait_for_change") == "true"
        last, limit = query.get("last_etag", "0"), float(query.get("timeout_sec", _LONGEST_WAIT_S))
        found = self.server.metadata.awaited(vm, key, last if waits else "", limit)
        self._say(200, found[0], found[1]) if found else self._say(404, "")

    def do_PUT(self) -> None:
        """A guest attribute is written."""
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self._change(text)

    def do_DELETE(self) -> None:
        """A guest attribute is removed."""
        self._change(None)

    def _change(self, value: str | None) -> None:
        vm, kind, key, _ = self._where()
        namespace, _, name = key.partition("/")
        if vm is None or kind != "guest-attributes" or namespace != "plimsoll" or not name:
            self._say(404, "")
            return
        self.server.metadata.write(vm, name, value)
        self._say(200, "")

    def _where(self) -> tuple[VmKey | None, str, str, Mapping[str, str]]:
        parts = urlsplit(self.path)
        place, _, rest = parts.path.partition(f"/{_ROOT}/")
        words = place.strip("/").split("/")
        kind, _, key = rest.partition("/")
        known = len(words) == 3 and self.headers.get("Metadata-Flavor") == "Google"
        return (VmKey(*words) if known else None), kind, key, dict(parse_qsl(parts.query))

    def _say(self, status: int, text: str, etag: str = "") -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Metadata-Flavor", "Google")
        self.send_header("Content-Length", str(len(content)))
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, metadata: Metadata) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.metadata = metadata


def metadata_server(metadata: Metadata) -> ThreadingHTTPServer:
    """The server, on a free port of loopback."""
    return _Server(metadata)
