"""Places of a bill: files, folders of an export, or S3, as files on this machine, one after the other."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from plimsoll.clouds.aws.errors import translate_errors
from plimsoll.clouds.aws.objects import every_object
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import BadInput

S3: Final = "s3://"
_BILLS: Final = (".parquet", ".csv", ".csv.gz")

_PERIOD: Final = re.compile(r"(?:BILLING_PERIOD=\d{4}-\d{2}|\d{8}-\d{8})$", re.IGNORECASE)
"""The folder of a month: of a data export, or of an older report."""

_DATED: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}T")
"""The beginning of the folder of an export's one execution, where executions are kept side by side."""

READING: Final = CallPurpose(
    goes_on="The bill cannot be read",
    allow="allow s3:ListBucket on the bucket and s3:GetObject on the export's objects",
    again="run again later",
)


class BillFile(NamedTuple):
    """A file of a bill: its name, and how it comes to this machine for as long as it is read."""

    name: str
    here: Callable[[Path], Any]


def find_files(place: str, client: Any = None) -> list[BillFile]:
    """The files of a bill at a path or an address of S3. Raises BadInput if there are none.

    Of a month that was exported several times, the newest execution counts: they are not added up.
    """
    if place.startswith(S3):
        bucket, _, prefix = place.removeprefix(S3).partition("/")
        with translate_errors(f"list {place}", "s3:ListBucket", READING):
            names = [entry.key for entry in every_object(client, bucket, prefix)]
        files = [BillFile(f"{S3}{bucket}/{name}", _fetch_object(client, bucket, name)) for name in newest_of(names)]
    else:
        path = Path(place)
        names = [str(path)] if path.is_file() else [str(file) for file in sorted(path.rglob("*")) if file.is_file()]
        kept = names if path.is_file() else newest_of(names)
        files = [BillFile(name, _link_file(Path(name))) for name in kept]
    if not files:
        raise BadInput(f"{place} has no bill: give a file, a folder or s3://BUCKET/PREFIX with Parquet or CSV.")
    return files


def newest_of(names: Iterable[str]) -> list[str]:
    """The files that count of an export, by name. Raises BadInput if a month has several versions without a date."""
    versions: dict[PurePosixPath, dict[str, list[str]]] = {}
    for name in names:
        if name.lower().endswith(_BILLS):
            month, version = _place_of(PurePosixPath(name))
            versions.setdefault(month, {}).setdefault(version, []).append(name)
    for month, by_version in versions.items():
        if len(by_version) > 1 and not all(map(_DATED.match, by_version)):
            raise BadInput(
                f"{month} holds several versions of one month, which are not to be added up: give the folder of one of "
                f"{', '.join(sorted(by_version))[:200]}."
            )
    return sorted(name for by_version in versions.values() for name in by_version[max(by_version)])


def _place_of(path: PurePosixPath) -> tuple[PurePosixPath, str]:
    """The folder of the month that a file is of, and the execution that wrote it; the file's own folder elsewhere."""
    for parent in path.parents:
        if _PERIOD.match(parent.name):
            inside = path.relative_to(parent).parts
            return parent, inside[0] if len(inside) > 1 else ""
    return path.parent, ""


def _link_file(path: Path) -> Callable[[Path], Any]:
    """A file of this machine by a link of a plain name: signs of its own name mean something to DuckDB."""

    @contextmanager
    def link(scratch: Path) -> Iterator[Path]:
        plain = _plain_path(scratch, path.name)
        plain.symlink_to(path.absolute())
        try:
            yield plain
        finally:
            plain.unlink()

    return link


def _plain_path(scratch: Path, name: str) -> Path:
    return scratch / f"bill{next((ending for ending in _BILLS if name.lower().endswith(ending)), '.csv')}"


def _fetch_object(client: Any, bucket: str, key: str) -> Callable[[Path], Any]:
    """An object as a file in a scratch folder, which is removed when it has been read."""

    @contextmanager
    def fetch(scratch: Path) -> Iterator[Path]:
        path = _plain_path(scratch, key)
        try:
            with translate_errors(f"read {S3}{bucket}/{key}", "s3:GetObject", READING):
                client.download_file(bucket, key, str(path))
            yield path
        finally:
            path.unlink(missing_ok=True)

    return fetch
