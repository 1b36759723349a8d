"""What a function's start is made of: the CPU of libraries, and of what Python makes of our modules.

    .venv/bin/python benchmarks/speed/start_profile.py [FUNCTION]

Counting takes time as well, so that the sum is more than a start takes (`cold_start.py`).
"""

import dataclasses
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("boto3", "numpy", "pydantic.main")


def main() -> None:
    """Prints a line for each part."""
    sys.path.insert(0, str(ROOT))
    for library in LIBRARIES:
        _say(f"import {library}", _cpu_s(partial(import_module, library)))
    pydantic = import_module("pydantic._internal._model_construction").ModelMetaclass
    made = {
        "dataclasses": _counted(dataclasses, "_process_class"),
        "models of pydantic": _counted(pydantic, "__new__"),
    }
    (function,) = sys.argv[1:] or ("audit_batch",)
    whole_s = _cpu_s(partial(import_module, f"functions.{function}"))
    ours = sum(name.startswith(("plimsoll", "functions")) for name in sys.modules)
    _say(f"all the rest, with {ours} modules of ours", whole_s)
    for what, (count, seconds) in made.items():
        _say(f"  of these {len(count)} {what}", sum(seconds))


def _counted(holder: Any, name: str) -> tuple[list[str], list[float]]:
    """What is made from now on by that function, and the seconds of CPU of each."""
    make: Callable[..., Any] = getattr(holder, name)
    names, seconds = list[str](), list[float]()

    def counted(*given: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return make(*given, **options)
        finally:
            names.append(name)
            seconds.append(time.process_time() - start)

    setattr(holder, name, counted)
    return names, seconds


def _cpu_s(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _say(what: str, seconds: float) -> None:
    sys.stdout.write(f"{what:<52}{seconds * 1e3:>6.0f} ms\n")


if __name__ == "__main__":
    main()
