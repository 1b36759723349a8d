"""Plimsoll right-sizes cloud block storage on what its workload really asks for."""

from importlib.metadata import version


def __getattr__(name: str) -> str:
    """`__version__`, read where it is asked for."""
    if name == "__version__":
        return version("plimsoll")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
