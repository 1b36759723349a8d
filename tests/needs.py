"""What some tests need of the machine: they run where it is there, and in CI they must run."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

MUST_RUN: Final = "PLIMSOLL_TESTS_MUST_RUN"
"""Set in CI: there a test that cannot run fails."""


def _has_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _has_loop_devices() -> bool:
    """Loop devices, and the kernel's block-I/O controller to hold them to a rate (cgroup v1 or v2)."""
    v1 = Path("/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device").exists()
    controllers = Path("/sys/fs/cgroup/cgroup.controllers")
    v2 = controllers.exists() and "io" in controllers.read_text(encoding="ascii").split()
    return _has_root() and Path("/dev/loop-control").exists() and (v1 or v2)


def find_promtool() -> str | None:
    """Prometheus's own checker: the machine's, or the one that `make promtool` has put beside Python."""
    return shutil.which("promtool") or shutil.which("promtool", path=str(Path(sys.executable).parent))


def find_checkov() -> str | None:
    """The machine's checkov, or the one that `make checkov` has put into an environment of its own."""
    own = Path(__file__).parents[1] / ".venv-checkov" / "bin" / "checkov"
    return shutil.which("checkov") or (str(own) if own.exists() else None)


NEEDS: Final[Mapping[str, tuple[Callable[[], bool], str]]] = {
    "fio": (lambda: shutil.which("fio") is not None, "fio is not installed (apt-get install fio)"),
    "shellcheck": (lambda: shutil.which("shellcheck") is not None, "shellcheck is not installed"),
    "xfs": (lambda: shutil.which("mkfs.xfs") is not None, "mkfs.xfs is not installed (apt-get install xfsprogs)"),
    "chromium": (lambda: shutil.which("chromium") is not None, "chromium is not installed (apt-get install chromium)"),
    "promtool": (lambda: find_promtool() is not None, "promtool is not installed (`make promtool`)"),
    "checkov": (lambda: find_checkov() is not None, "checkov is not installed (`make checkov`)"),
    "serve": (lambda: find_spec("uvicorn") is not None, "Starlette and uvicorn are not installed (the extra `serve`)"),
    "root": (_has_root, "needs root"),
    "loop": (_has_loop_devices, "needs root, loop devices and the kernel's block-I/O controller"),
}


def missing(names: tuple[str, ...]) -> list[str]:
    """Why the machine cannot run a test with these needs; empty where it can."""
    return [reason for has, reason in (NEEDS[name] for name in names) if not has()]
