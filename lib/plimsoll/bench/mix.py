"""A mix of I/O sizes as fio takes it: whole percent.

A few large I/Os make most of the bytes, so rounding each share by itself can double the mean size. So single percents
are moved between sizes after rounding, for as long as that brings the mean back.
"""

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from plimsoll.domain.demand.workload import SIZES_KIB, Sizes, mean_size_kib

Percents = dict[int, int]

NEAR: Final = 0.005
"""How far the mean of a mix in whole percents may be from the mix's own, as a share of it."""


def percents(sizes: Sizes) -> Percents:
    """Whole percent by size in KiB, 100 together, of a mix whose shares sum to 1. The mean is kept to `NEAR`.

    Where nothing else keeps the mean, a size comes in that the mix does not have, between its smallest and largest.
    """
    wanted_kib = mean_size_kib(sizes)
    found = _nearest(_rounded(sizes), sizes)
    if abs(wanted_kib - _mean_kib(found)) > NEAR * wanted_kib:
        # No single percent helps any more: one goes too far, so that others can come back.
        beyond = [_nearest(_moved(found, move), sizes) for move in _moves(found, sizes)]
        found = min([found, *beyond], key=lambda mix: abs(wanted_kib - _mean_kib(mix)))
    return {size_kib: found[size_kib] for size_kib in sorted(found) if found[size_kib]}


def bssplit(sizes: Sizes) -> str:
    """A mix in the grammar of fio's bssplit, such as 4k/90:16k/10."""
    return ":".join(f"{size_kib}k/{percent}" for size_kib, percent in percents(sizes).items())


def mean_as_run_kib(sizes: Sizes) -> float:
    """The mean size of a mix once its shares are whole percents."""
    return _mean_kib(percents(sizes))


def _rounded(sizes: Sizes) -> Percents:
    """Each share rounded down, and the percents that are left to the largest remainders."""
    found = {size_kib: int(share * 100) for size_kib, share in sizes}
    by_remainder = sorted(sizes, key=lambda one: found[one[0]] - one[1] * 100)
    for size_kib, _ in by_remainder[: 100 - sum(found.values())]:
        found[size_kib] += 1
    return found


def _nearest(mix: Percents, sizes: Sizes) -> Percents:
    """The mix once no percent can be moved that brings its mean nearer to what it should be."""
    wanted_kib = mean_size_kib(sizes)
    while (move := _next_move(mix, sizes, wanted_kib - _mean_kib(mix))) is not None:
        mix = _moved(mix, move)
    return mix


def _moved(mix: Percents, move: tuple[int, int]) -> Percents:
    giver, taker = move
    return {**mix, giver: mix[giver] - 1, taker: mix.get(taker, 0) + 1}


def _moves(mix: Percents, sizes: Sizes) -> Iterator[tuple[int, int]]:
    """The sizes that a percent can be moved from, each with those that it can be moved to."""
    within = [size_kib for size_kib in SIZES_KIB if sizes[0][0] <= size_kib <= sizes[-1][0]]
    return (move for move in permutations(within, 2) if mix.get(move[0]))


def _next_move(mix: Percents, sizes: Sizes, missing_kib: float) -> tuple[int, int] | None:
    """The percent to move, from which size to which: the furthest that does not pass the mean, at last the nearest."""
    moved_kib = {move: (move[1] - move[0]) / 100 for move in _moves(mix, sizes)}
    short = [move for move, kib in moved_kib.items() if 0 < kib / missing_kib <= 1] if missing_kib else []
    if short:
        return max(short, key=lambda move: abs(moved_kib[move]))
    nearest = min(moved_kib, key=lambda move: abs(missing_kib - moved_kib[move]), default=None)
    if nearest is None or abs(missing_kib - moved_kib[nearest]) >= abs(missing_kib):
        return None
    return nearest


def _mean_kib(mix: Percents) -> float:
    return sum(size_kib * percent for size_kib, percent in mix.items()) / 100
