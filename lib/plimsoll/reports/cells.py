"""Cells: text that a spreadsheet shows and does not run. Names come from tags, and tags from anybody."""

import re
from typing import Final

_BLANK: Final = r"[\s\u200b-\u200f\u2060\ufeff\x00-\x1f\"'\u2018-\u201f]*"
"""What a spreadsheet may drop before it looks at a cell's first sign: blanks, signs without width, and quotes."""

_RUNS: Final = re.compile(
    rf"(?P<before>^|[;\t\r\n\v\f\x00\x85\u2028\u2029])(?={_BLANK}[=+\-@\uff1d\uff0b\uff0d\uff20])"
)
"""A formula at the beginning of a cell, or where one begins for a spreadsheet that splits cells at other signs: many
countries' do at semicolons, and then know no quotes around the cell, so that a line's end begins a cell as well."""

_BEGINS: Final = ("\t", "\r", "\n", "\x00")
"""What may not begin a cell whatever follows it."""


def inert(text: str) -> str:
    """The text with an apostrophe before whatever would be a formula; text that harms nobody stands as it is."""
    harmless = _RUNS.sub(lambda found: f"{found['before']}'", text)
    return f"'{harmless}" if harmless.startswith(_BEGINS) else harmless
