"""Gates of imports: how many modules stand behind one, how many one names itself, and the longest chain."""

from functools import cache

from tests.gates.library import imports

ROOTS = ("plimsoll.bootstrap.", "plimsoll_change.opening", "plimsoll_service.bootstrap.")
"""Composition roots: they choose what the others are made of."""


def modules_behind(module: str) -> list[str]:
    """All modules that a module imports, itself or by others."""
    behind: set[str] = set()
    ahead = [module]
    while ahead:
        new = imports()[ahead.pop()] - behind
        behind |= new
        ahead.extend(new)
    return sorted(behind - {module})


def most_own_imports() -> list[str]:
    """The imports of the module that has most of them; composition roots, which exist to name others, do not count."""
    parts = {module: imported for module, imported in imports().items() if not module.startswith(ROOTS)}
    most = max(parts, key=lambda module: (len(parts[module]), module))
    return [f"{most}: {imported}" for imported in sorted(parts[most])]


def longest_chain() -> list[str]:
    """The longest chain of modules of which each imports the next, none twice; a circle counts with all its modules."""

    @cache
    def chain_of(circle: frozenset[str]) -> tuple[str, ...]:
        below = {_circle_of(module) for inside in circle for module in imports()[inside]} - {circle}
        longest = max((chain_of(other) for other in sorted(below, key=sorted)), key=len, default=())
        return (*sorted(circle), *longest)

    return list(max((chain_of(_circle_of(module)) for module in imports()), key=len))


@cache
def _behind(module: str) -> frozenset[str]:
    return frozenset(modules_behind(module))


@cache
def _circle_of(module: str) -> frozenset[str]:
    """The modules that a module imports and that import it, itself included."""
    return frozenset({module, *(other for other in _behind(module) if module in _behind(other))})
