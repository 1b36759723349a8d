"""Plimsoll right-sizes cloud block storage on what its workload really asks for.

These names are the API of Python, and they are stable (docs/python.md). Each is imported when it is first used.
"""

from importlib import import_module

TYPE_CHECKING = False  # typing's own takes most of the time that this import takes

if TYPE_CHECKING:
    from plimsoll.api.audits import audit
    from plimsoll.api.replaying import replay
    from plimsoll.api.runs import Run, read_run
    from plimsoll.api.volumes import explain
    from plimsoll.clouds.scope import Scope
    from plimsoll.model.errors import PlimsollError
    from plimsoll.model.policy import Policy
    from plimsoll.model.volume import VolumeSpec
    from plimsoll.reports.record import RecommendationRecord as Recommendation
    from plimsoll_backtest.api import backtest

    __version__: str

__all__ = [
    "PlimsollError",
    "Policy",
    "Recommendation",
    "Run",
    "Scope",
    "VolumeSpec",
    "__version__",
    "audit",
    "backtest",
    "explain",
    "read_run",
    "replay",
]

_HOMES = {
    "PlimsollError": "plimsoll.model.errors",
    "Policy": "plimsoll.model.policy",
    "Recommendation": "plimsoll.reports.record:RecommendationRecord",
    "Run": "plimsoll.api.runs",
    "Scope": "plimsoll.clouds.scope",
    "VolumeSpec": "plimsoll.model.volume",
    "audit": "plimsoll.api.audits",
    "backtest": "plimsoll_backtest.api",
    "explain": "plimsoll.api.volumes",
    "read_run": "plimsoll.api.runs",
    "replay": "plimsoll.api.replaying",
}
"""Where each name is defined: its module, and after a colon what it is called there."""


if not TYPE_CHECKING:  # a type checker is to know the names above alone

    def __getattr__(name: str) -> object:
        """A name of the API, imported where it is asked for."""
        if name == "__version__":
            value: object = import_module("plimsoll.distribution").own_version()
        elif name in _HOMES:
            module, _, inside = _HOMES[name].partition(":")
            value = getattr(import_module(module), inside or name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The names of the API, for completion."""
    return __all__
