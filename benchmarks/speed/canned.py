"""A server that answers from memory, so that the simulator's CPU is in no figure.

It passes on to the simulator what it does not know yet, and keeps the bytes. From then on it answers the same request
with them, after a latency. A time is part of a request only where an answer depends on it: Cloud Custodian's calls of
GetMetricStatistics end at the microsecond, and it looks at no point's time.

An account can be had several times over, as one larger one: each copy's volumes and hosts have ids of their own, and
what is asked of them is answered by what the first ones did.
"""

import asyncio
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from cloud_simulator.running import Running

CONTROL: Final = "/canned/"
"""Path that sets the number of copies, and answers with the calls since it was asked last."""

_TIMES: Final = re.compile(rb"(StartTime|EndTime)(\xc1\xfb.{8}|\xc1\x1a.{4}|=[^&]*)", re.DOTALL)
_SIGNED_FOR: Final = re.compile(rb"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/")
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_TARGET: Final = re.compile(rb"(?i)\r\nx-amz-target: *([^\r]*)")
_ID: Final = re.compile(rb"\b(?:vol|i)-[0-9a-f]{17}\b")
_PAGED: Final = re.compile(rb"Action=(DescribeVolumes|DescribeInstances|DescribeVolumesModifications)&")
_TOKEN: Final = re.compile(rb"(&NextToken=)copy-(\d+)(?:\.([^&]+))?")
_NEXT: Final = re.compile(rb"<nextToken>([^<]+)</nextToken>")
_END_OF_HEAD: Final = b"\r\n\r\n"


@dataclass(slots=True, kw_only=True)
class _Canned:
    """The answers by request, the calls since somebody asked, and which id of the first account each copied one is."""

    upstream: str
    latency_s: float
    copies: int = 1
    answers: dict[bytes, bytes] = field(default_factory=dict)
    copied: dict[bytes, tuple[bytes, int]] = field(default_factory=dict)
    calls: int = 0
    passed_on: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one connection's requests until it is closed."""
        try:
            while True:
                head = await reader.readuntil(_END_OF_HEAD)
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                writer.write(await self._answer(head, body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, head: bytes, body: bytes) -> bytes:
        path = head.split(b" ", 2)[1].decode()
        if path.startswith(CONTROL):
            return self._control(int(path.removeprefix(CONTROL)))
        self.calls += 1
        body, copy, is_page = self._as_of_first(body)
        key = _key(head, body)
        if key in self.answers:
            await asyncio.sleep(self.latency_s)
        else:
            self.passed_on += 1
            answer = await asyncio.to_thread(_ask, self.upstream, head, body)
            if not answer.startswith(b"HTTP/1.1 200"):
                return answer
            self.answers[key] = answer
        return self.answers[key] if self.copies == 1 else self._as_of_copy(self.answers[key], copy, is_page=is_page)

    def _control(self, copies: int) -> bytes:
        counts = {"calls": self.calls, "passed_on": self.passed_on}
        self.calls = self.passed_on = 0
        self.copies = copies
        return _response(b"HTTP/1.1 200 OK", [], json.dumps(counts).encode())

    def _as_of_first(self, body: bytes) -> tuple[bytes, int, bool]:
        """The request as it would be of the first account, the copy that it is of, and whether it wants a page of all.

        SystemExit where it is of several copies.
        """
        if self.copies == 1:
            return body, 0, False
        copies = {self.copied.get(name, (name, 0))[1] for name in _ID.findall(body)}
        if len(copies) > 1:
            raise SystemExit(f"one request is about {len(copies)} copies of an account: {body[:300]!r}")
        token, is_page = _TOKEN.search(body), b"MaxResults=" in body and _PAGED.search(body) is not None
        page = _TOKEN.sub(lambda found: found[1] + found[3] if found[3] else b"", body)
        first = _ID.sub(lambda found: self.copied.get(found[0], (found[0], 0))[0], page)
        return first, int(token[2]) if token else max(copies, default=0), is_page

    def _as_of_copy(self, answer: bytes, copy: int, *, is_page: bool) -> bytes:
        """An answer of the first account, as of a copy; the last page of a copy has the next copy behind it."""
        head, _, body = answer.partition(_END_OF_HEAD)
        if copy:
            body = _ID.sub(lambda found: self._name_of(found[0], copy), body)
        if _NEXT.search(body):
            body = _NEXT.sub(rb"<nextToken>copy-%d.\1</nextToken>" % copy, body)
        elif is_page and copy + 1 < self.copies:
            body = re.sub(rb"(</Describe\w+Response>)", rb"<nextToken>copy-%d</nextToken>\1" % (copy + 1), body)
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
        return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])

    def _name_of(self, name: bytes, copy: int) -> bytes:
        """The id in a copy: its number in the place of the first two digits."""
        kind, _, digits = name.partition(b"-")
        copied = b"%s-%02x%s" % (kind, copy, digits[2:])
        if self.copied.setdefault(copied, (name, copy)) != (name, copy):
            raise SystemExit(f"two ids of the first account are alike but for two digits: {name!r}")
        return copied


def _key(head: bytes, body: bytes) -> bytes:
    """The key of a request: its line, who signed it and for which place, its target and its body."""
    line, _, fields = head.partition(b"\r\n")
    signed, target = _SIGNED_FOR.search(fields), _TARGET.search(head)
    if b"GetMetricStatistics" in line:
        body = _TIMES.sub(rb"\1", body)
    return b"\n".join((line, *(signed.groups() if signed else ()), target[1] if target else b"", body))


def _ask(upstream: str, head: bytes, body: bytes) -> bytes:
    lines = head.decode("latin-1").split("\r\n")
    method, path, _ = lines[0].split(" ")
    fields = dict(line.split(": ", 1) for line in lines[1:] if line)
    sent = {name: value for name, value in fields.items() if name.lower() not in ("connection", "content-length")}
    request = urllib.request.Request(upstream + path, body or None, sent, method=method)  # noqa: S310  # the simulator
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:  # noqa: S310  # as above
            return _response(b"HTTP/1.1 200 OK", list(answer.headers.items()), answer.read())
    except urllib.error.HTTPError as error:
        status = f"HTTP/1.1 {error.code} {error.reason}".encode("latin-1")
        return _response(status, list(error.headers.items()), error.read())


def _response(status: bytes, fields: Sequence[tuple[str, str]], body: bytes) -> bytes:
    kept = [(name, value) for name, value in fields if name.lower() not in ("connection", "content-length", "date")]
    lines = [status, *(f"{name}: {value}".encode("latin-1") for name, value in kept)]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])


async def _listen(upstream: str, latency_ms: float) -> None:
    server = await asyncio.start_server(_Canned(upstream=upstream, latency_s=latency_ms / 1e3).serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)  # it ends with who began it


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The calls that came, and how many of them were not known."""

    calls: int
    passed_on: int


def take_counts(account: Running, copies: int = 1) -> Counts:
    """The counts of a canned account since they were taken last; from now on it is had so many times."""
    with urllib.request.urlopen(f"{account.endpoint}{CONTROL}{copies}", timeout=60) as answer:  # noqa: S310  # our own
        return Counts(**json.load(answer))


@contextmanager
def canned(account: Running, latency_ms: float) -> Iterator[Running]:
    """The same account, behind a server that learns its answers, in a process that ends with the block."""
    command = [sys.executable, __file__, account.endpoint, str(latency_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # this file
        if process.stdin is None or process.stdout is None:
            raise SystemExit("the canned server has no pipes")
        try:
            yield replace(account, endpoint=f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.stdin.close()


if __name__ == "__main__":
    asyncio.run(_listen(sys.argv[1], float(sys.argv[2])))
