"""The emulator, ministack from PyPI: a process of its own, in its own environment, on loopback."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import boto3

HOME: Final = "111122223333"
REGION: Final = "eu-west-1"
"""The account and region that the service is deployed in."""

SECRET: Final = "test"
"""The secret key of every account's root, as the emulator has it."""

READY_WITHIN_S: Final = 60

COMPLETED: Final = Path(__file__).with_name("completed.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulator:
    """A running emulator; an access key of twelve digits is that account's."""

    url: str
    log: Path

    def client(self, service: str, *, account: str = HOME, region: str = REGION) -> Any:
        return boto3.client(
            service,  # type: ignore[call-overload]  # the service's name is not a literal
            endpoint_url=self.url,
            region_name=region,
            aws_access_key_id=account,
            aws_secret_access_key=SECRET,
        )

    def environment(self, account: str = HOME) -> Mapping[str, str]:
        """The environment of a command that is to see this emulator and nothing else of AWS."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PLIMSOLL_"))}
        return {
            **kept,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": account,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_COLOR": "1",
            "COLUMNS": "160",
        }


@contextmanager
def running_emulator(python: Path, folder: Path) -> Iterator[Emulator]:
    """Starts the emulator, and ends it with all that it started."""
    port, log = _free_port(), folder / "emulator.log"
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PLIMSOLL_"))}
    environment = {
        **kept,
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_REGION": REGION,
        "MINISTACK_ACCOUNT_ID": HOME,
        "TMPDIR": str(folder),
        "DOCKER_HOST": "unix:///nowhere",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }
    with log.open("w") as written:
        process = subprocess.Popen(
            [python, COMPLETED],
            cwd=folder,
            env=environment,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        emulator = Emulator(url=f"http://127.0.0.1:{port}", log=log)
        _wait_for(emulator, process)
        yield emulator
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(emulator: Emulator, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(f"{emulator.url}/_ministack/health", timeout=2):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"the emulator does not answer:\n{emulator.log.read_text()[-4000:]}")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
