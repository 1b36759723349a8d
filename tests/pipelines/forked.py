"""The process that commands are forked from: it reads one a line from standard input, as JSON, and writes exit codes.

It has imported all commands, read what ships, and made what is the same in every report. It runs no thread.
"""

import ast
import atexit
import gc
import json
import os
import runpy
import sys
import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import plimsoll.cli
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.clouds.aws.sessions import known_regions
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.reports.html import page as page_files
from plimsoll.wings import find_folders
from tests.machines import models


def serve() -> None:
    """Answers command by command until there are no more."""
    for line in sys.stdin:
        told = json.loads(line)
        forked = os.fork()
        if not forked:
            end(become(told))
        code = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


def become(told: Mapping[str, Any]) -> int:
    """Is the command from here on; gives its exit code."""
    for number, name in enumerate((os.devnull, *told["files"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # the old one has read ahead
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.argv = ["plimsoll", *told["words"]]
    try:
        runpy.run_module("plimsoll", run_name="__main__", alter_sys=True)
    except SystemExit as exited:
        return int(exited.code or 0)
    except BaseException:  # noqa: BLE001  # the interpreter tells of every one
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def end(code: int) -> None:
    """Ends as the interpreter does, but for taking apart all that was imported, which is half a second's work."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def prepare() -> None:
    """Does what every command would do anew."""
    assert models.SERVICES, "importing it has read the models of services"
    folders = {plimsoll.cli.__name__: Path(*plimsoll.cli.__path__), **find_folders("cli")}
    for package, path in ((package, path) for package, folder in folders.items() for path in folder.glob("*.py")):
        import_module(f"{package}.{path.stem}")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                import_module(node.module)  # also what a command imports when it runs
    shipped_prices("aws")
    for read in (envelope_library, known_regions, page_files.specs, page_files.drawing_script):
        read()
    gc.freeze()  # nothing of this is ever garbage, and what is not looked at is not copied


if __name__ == "__main__":
    prepare()
    serve()
    end(0)
