"""S3 as far as the service asks it: objects on this machine's disk, listed by an index that several processes share."""

import hashlib
import shutil
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import quote
from xml.sax.saxutils import escape

from werkzeug.wrappers import Request, Response
from werkzeug.wsgi import wrap_file

_TABLE: Final = "create table if not exists objects (key text primary key, size integer, file text) without rowid"
_PAGE: Final = 1_000
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>'
_NAMESPACE: Final = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class _Database(sqlite3.Connection):
    """A connection that is closed when its thread ends, and nobody holds it any more."""

    def __del__(self) -> None:
        self.close()


def connected(path: Path, table: str) -> sqlite3.Connection:
    """A database that several processes write; nothing of it needs to outlive the machine."""
    database = sqlite3.connect(path, timeout=120, isolation_level=None, check_same_thread=False, factory=_Database)
    database.execute("pragma journal_mode=wal")
    database.execute("pragma synchronous=off")
    database.execute(table)
    return database


@dataclass(slots=True)
class Objects:
    """The objects of one bucket, in that folder."""

    folder: Path
    _here: threading.local = field(default_factory=threading.local)
    _names: Iterator[int] = field(default_factory=count)
    _own: str = field(default_factory=lambda: uuid.uuid4().hex)

    def answer(self, request: Request, body: bytes) -> Response:
        """What S3 answers to a request for the bucket or one of its objects."""
        _, _, key = request.path.lstrip("/").partition("/")
        match request.method, key, request.args:
            case "GET", "", asked:
                return self._listed(asked.get("prefix", ""), asked.get("continuation-token", ""))
            case _, _, asked if "uploads" in asked or "uploadId" in asked:
                return self._in_parts(key, request, body)
            case "PUT", _, _:
                self.keep(key, body)
                return _tagged(body)
            case "DELETE", _, _:
                self._drop(key)
                return Response(status=204)
            case (("GET" | "HEAD"), _, _):
                return self._read(key, request)
            case _:
                raise NotImplementedError(
                    f"{request.method} {request.url}: teach benchmarks/scale/objects.py to answer it."
                )

    def content(self, key: str) -> bytes:
        """What is kept under a key; KeyError where nothing is."""
        file = self._file(key)
        if file is None:
            raise KeyError(key)
        return file.read_bytes()

    def keep(self, key: str, body: bytes) -> None:
        """Keeps a body under a key."""
        file = self._new_file()
        file.write_bytes(body)
        self._note(key, file)

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """The keys that begin with a prefix, each with its bytes."""
        yield from self._rows(prefix, "", -1)

    def _rows(self, prefix: str, after: str, most: int) -> list[tuple[str, int]]:
        asked = "select key, size from objects where key > ? and key >= ? and key < ? order by key limit ?"
        return self._database.execute(asked, (after, prefix, prefix + "\U0010ffff", most)).fetchall()

    def _listed(self, prefix: str, after: str) -> Response:
        rows = self._rows(prefix, after, _PAGE + 1)
        shown, more = rows[:_PAGE], len(rows) > _PAGE
        contents = "".join(
            f"<Contents><Key>{quote(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>&quot;0&quot;</ETag><Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for key, size in shown
        )
        token = f"<NextContinuationToken>{escape(shown[-1][0])}</NextContinuationToken>" if more else ""
        told = f"<IsTruncated>{str(more).lower()}</IsTruncated><KeyCount>{len(shown)}</KeyCount>{token}"
        return _xml("ListBucketResult", f"<EncodingType>url</EncodingType>{told}{contents}")

    def _read(self, key: str, request: Request) -> Response:
        file = self._file(key)
        if file is None:
            return Response(f"{_HEAD}<Error><Code>NoSuchKey</Code></Error>", status=404, content_type="application/xml")
        size = file.stat().st_size
        body = wrap_file(request.environ, file.open("rb"), 1 << 18) if request.method == "GET" else b""
        response = Response(body, content_type="binary/octet-stream", direct_passthrough=True)
        response.headers["Content-Length"], response.headers["ETag"] = str(size), '"0"'
        return response

    def _in_parts(self, key: str, request: Request, body: bytes) -> Response:
        """An upload in parts: its begin, a part, or its end."""
        upload = request.args.get("uploadId")
        if upload is None:
            named = f"<Key>{escape(key)}</Key><UploadId>{uuid.uuid4().hex}</UploadId>"
            return _xml("InitiateMultipartUploadResult", named)
        if request.method == "PUT":
            self._part(upload, int(request.args["partNumber"])).write_bytes(body)
            return _tagged(body)
        return self._completed(key, upload)

    def _completed(self, key: str, upload: str) -> Response:
        whole = self._new_file()
        parts = sorted((self.folder / "parts").glob(f"{upload}-*"))
        with whole.open("wb") as into:
            for part in parts:
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, into, 1 << 20)
                part.unlink()
        self._note(key, whole)
        return _xml("CompleteMultipartUploadResult", f"<Key>{escape(key)}</Key><ETag>&quot;0&quot;</ETag>")

    def _part(self, upload: str, number: int) -> Path:
        (self.folder / "parts").mkdir(parents=True, exist_ok=True)
        return self.folder / "parts" / f"{upload}-{number:05d}"

    def _new_file(self) -> Path:
        number = next(self._names)
        folder = self.folder / "objects" / self._own / f"{number // 1000:06d}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{number:09d}"

    def _note(self, key: str, file: Path) -> None:
        before = self._file(key)
        row = (key, file.stat().st_size, str(file.relative_to(self.folder)))
        self._database.execute("insert or replace into objects values (?, ?, ?)", row)
        if before is not None:
            before.unlink(missing_ok=True)

    def _drop(self, key: str) -> None:
        file = self._file(key)
        if file is not None:
            self._database.execute("delete from objects where key = ?", (key,))
            file.unlink(missing_ok=True)

    def _file(self, key: str) -> Path | None:
        found = self._database.execute("select file from objects where key = ?", (key,)).fetchone()
        return None if found is None else self.folder / found[0]

    @property
    def _database(self) -> sqlite3.Connection:
        """Each thread has a connection of its own."""
        if not hasattr(self._here, "database"):
            self._here.database = connected(self.folder / "objects.sqlite", _TABLE)
        found: sqlite3.Connection = self._here.database
        return found


def _tagged(body: bytes) -> Response:
    digest = hashlib.md5(body, usedforsecurity=False).hexdigest()
    return Response(status=200, headers={"ETag": f'"{digest}"'})


def _xml(name: str, inside: str) -> Response:
    return Response(f"{_HEAD}<{name} {_NAMESPACE}>{inside}</{name}>", content_type="application/xml")
