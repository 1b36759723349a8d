"""Wording, held once: what people read stands in `tests/golden/NAME.txt`, and a test says that it is what is written.

`PLIMSOLL_WRITE_GOLDEN=1` writes the files anew; the difference wants reading.
"""

import os
from pathlib import Path
from typing import Final

GOLDEN: Final = Path(__file__).parent / "golden"
WRITE: Final = "PLIMSOLL_WRITE_GOLDEN"


def assert_golden(name: str, text: str) -> None:
    """Holds a text to the file of that name, which ends with one newline and has no spaces at the ends of lines."""
    file = GOLDEN / f"{name}.txt"
    now = "\n".join(line.rstrip() for line in text.rstrip().splitlines()) + "\n"
    if os.environ.get(WRITE):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(now, encoding="utf-8")
    assert file.exists(), f"{file} is not there: {WRITE}=1 writes it"
    assert now == file.read_text(encoding="utf-8"), f"the wording changed: {WRITE}=1 writes {file.name} anew"
