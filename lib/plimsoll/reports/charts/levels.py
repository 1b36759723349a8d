"""Levels: the lines across a series over time, in pictures and in the terminal alike."""

from collections.abc import Mapping


def in_sight(levels: Mapping[str, float], highest: float) -> tuple[dict[str, float], dict[str, float]]:
    """The levels to draw beside a series that is `highest` at most, and those so far above that they are only told."""
    near = {label: level for label, level in levels.items() if level <= 2 * highest}
    return near, {label: level for label, level in levels.items() if label not in near}
