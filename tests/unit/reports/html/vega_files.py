"""What a page draws its pictures with, made of Altair's specs and vl-convert's script.

The wheel has both as files, so that a report needs neither distribution. `make pictures` writes them anew, and
`test_vega.py` holds them to the locked versions.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any, Final

import vl_convert

from plimsoll.reports.charts.render import VEGA_LITE
from plimsoll.reports.charts.specs import demand_spec, roofline_spec
from plimsoll.reports.charts.theme import THEMES, WIDTH_PX
from plimsoll.reports.html import page as page_files

FOLDER: Final = Path(page_files.__file__).parent / "vega"

_SPECS: Final = {"demand": demand_spec, "roofline": roofline_spec}
_SET: Final = "window.vegaEmbed = vegaEmbed;"
"""All that the script does: it names what draws a spec."""


def files_for_page() -> dict[str, str]:
    """The files by name: the script that draws, and the specs that it draws."""
    script = str(vl_convert.javascript_bundle(_SET, vl_version=VEGA_LITE))
    return {"vega.js": script, "specs.json": f"{json.dumps(_specs(), indent=1)}\n"}


def _specs() -> dict[str, dict[str, Any]]:
    """The Vega-Lite specs of the page's pictures by kind and theme, without data, title and background."""
    found: dict[str, dict[str, Any]] = {kind: {} for kind in _SPECS}
    for (kind, spec_of), (name, theme) in product(_SPECS.items(), THEMES.items()):
        spec = spec_of(theme, WIDTH_PX)
        found[kind][name] = {**spec, "config": {**spec["config"], "background": None}}
    return found


if __name__ == "__main__":
    for file_name, text in files_for_page().items():
        (FOLDER / file_name).write_text(text, encoding="utf-8")
