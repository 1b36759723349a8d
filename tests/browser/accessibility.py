"""What axe-core finds wrong with a page: every rule that it has, those of good practice too."""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page


def violations(page: Page) -> list[str]:
    """Each violation of a page as it stands now: the rule, and the elements that break it."""
    page.evaluate(_axe())
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {', '.join(str(node['target']) for node in one['nodes'][:5])}" for one in found["violations"]
    ]


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
