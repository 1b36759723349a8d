"""Places of a bill: files, folders of an export, or S3, as files on this machine, one after the other."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from plimsoll.clouds.aws.errors import translate_errors
from plimsoll.clouds.aws.objects import every_key
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
    allow="allow s3:ListBucket and s3:GetObject on the export's bucket (`plimsoll permissions --for bill`)",
    again="run again later",
)


class BillFile(NamedTuple):
    """A file of a bill: its name, and how it is fetched into a scratch folder; None if it is on this machine."""

    name: str
    fetch: Callable[[Path], AbstractContextManager[Path]] | None = None

    def locate(self, scratch: Path) -> AbstractContextManager[Path]:
        """The file on this machine for as long as it is read."""
        return nullcontext(Path(self.name)) if self.fetch is None else self.fetch(scratch)


def find_files(place: str, client: Any = None) -> list[BillFile]:
    """The files of a bill at a path or an address of S3. Raises BadInput if there are none.

    Of a month that was exported several times, the newest execution counts: they are not added up. `client` is one of
    S3, by itself with the credentials that boto3 finds.
    """
    if place.startswith(S3):
        import boto3  # noqa: PLC0415  # most bills lie on this machine

        client = client or boto3.client("s3")
        bucket, _, prefix = place.removeprefix(S3).partition("/")
        with translate_errors(f"list {place}", "s3:ListBucket", READING):
            keys = newest_of(every_key(client, bucket, prefix))
        files = [BillFile(f"{S3}{bucket}/{key}", partial(_fetch_object, client, bucket, key)) for key in keys]
    else:
        path = Path(place)
        paths = [str(path)] if path.is_file() else newest_of(str(file) for file in path.rglob("*") if file.is_file())
        files = [BillFile(name) for name in paths]
    if not files:
        raise BadInput(f"{place} holds no bill: give files of {', '.join(_BILLS)}, or a folder or bucket of them.")
    return files


def newest_of(names: Iterable[str]) -> list[str]:
    """The files of a bill among some names, in order: of each month the newest execution's.

    Raises BadInput if a month has several versions without a date.
    """
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


@contextmanager
def _fetch_object(client: Any, bucket: str, key: str, scratch: Path) -> Iterator[Path]:
    """An object as a file in a scratch folder, which is removed when it has been read."""
    path = scratch / f"bill{next(ending for ending in _BILLS if key.lower().endswith(ending))}"
    try:
        with translate_errors(f"read {S3}{bucket}/{key}", "s3:GetObject", READING):
            client.download_file(bucket, key, str(path))
        yield path
    finally:
        path.unlink(missing_ok=True)
