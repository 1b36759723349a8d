"""YAML as it is read: of a bounded depth and number of values, whatever stands in it."""

from typing import Any, Final

import yaml

MOST_DEPTH: Final = 60
MOST_VALUES: Final = 500_000
"""Values of a YAML file, each counted as often as it is named: an alias of aliases grows without an end."""

_PARSER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser of events, where it is installed: it keeps no stack of its own that a text can exhaust."""


def parse_yaml(text: str, loader: Any = yaml.SafeLoader) -> Any:
    """The values in a text. ValueError if it is no YAML, nests too deep, or has too many values."""
    try:
        _check_shape(text)
        return yaml.load(text, loader)  # noqa: S506  # the caller's loader, which is a safe one
    except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from error


def _check_shape(text: str) -> None:
    """ValueError for a text that would take more than its length to be read."""
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    values = 0
    for event in yaml.parse(text, Loader=_PARSER):
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            if anchor not in sizes:
                raise ValueError(f"*{anchor} stands within itself, or nothing is named so")
            values += sizes[anchor]
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            sizes |= {anchor: 1} if anchor else {}
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((anchor, values))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            name, before = open_nodes.pop()
            sizes |= {name: values - before} if name else {}
        if len(open_nodes) > MOST_DEPTH:
            raise ValueError(f"it nests deeper than {MOST_DEPTH} levels")
        if values > MOST_VALUES:
            raise ValueError(f"it has more than {MOST_VALUES:,} values")
