"""A mix of I/O sizes as fio takes it: whole percent.

A few large I/Os make most of the bytes, so rounding each share by itself can double the mean size. So single percents
are moved between sizes after rounding, for as long as that brings the mean back.
"""

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from plimsoll.demand.workload import SIZES_KIB, Sizes, mean_size_kib

Percents = dict[int, int]

MEAN_TOLERANCE: Final = 0.005
"""The share by which the mean of a mix in whole percents may differ from the mix's own."""


def percents(sizes: Sizes) -> Percents:
    """Whole percent by size in KiB, 100 together, of a mix whose shares sum to 1. The mean is kept to `MEAN_TOLERANCE`.

    Where nothing else keeps the mean, a size comes in that the mix does not have, between its smallest and largest.
    """
    wanted_kib = mean_size_kib(sizes)
    nearest = _nearest(_round_down(sizes), sizes)
    if abs(wanted_kib - _mean_kib(nearest)) > MEAN_TOLERANCE * wanted_kib:
        # No single percent helps any more: one goes too far, so that others can come back.
        beyond = [_nearest(_move_percent(nearest, move), sizes) for move in _moves(nearest, sizes)]
        nearest = min([nearest, *beyond], key=lambda mix: abs(wanted_kib - _mean_kib(mix)))
    return {size_kib: nearest[size_kib] for size_kib in sorted(nearest) if nearest[size_kib]}


def bssplit(sizes: Sizes) -> str:
    """A mix in the grammar of fio's bssplit: 4k/90:16k/10."""
    return ":".join(f"{size_kib}k/{percent}" for size_kib, percent in percents(sizes).items())


def mean_as_run_kib(sizes: Sizes) -> float:
    """The mean size of a mix once its shares are whole percents."""
    return _mean_kib(percents(sizes))


def _round_down(sizes: Sizes) -> Percents:
    """Each share rounded down, and the percents that are left to the largest remainders."""
    mix = {size_kib: int(share * 100) for size_kib, share in sizes}
    by_remainder = sorted(sizes, key=lambda size_share: mix[size_share[0]] - size_share[1] * 100)
    for size_kib, _ in by_remainder[: 100 - sum(mix.values())]:
        mix[size_kib] += 1
    return mix


def _nearest(mix: Percents, sizes: Sizes) -> Percents:
    """The mix after every move of a percent that brings its mean nearer to the wanted one."""
    wanted_kib = mean_size_kib(sizes)
    while (move := _next_move(mix, sizes, wanted_kib - _mean_kib(mix))) is not None:
        mix = _move_percent(mix, move)
    return mix


def _move_percent(mix: Percents, move: tuple[int, int]) -> Percents:
    giver, taker = move
    return {**mix, giver: mix[giver] - 1, taker: mix.get(taker, 0) + 1}


def _moves(mix: Percents, sizes: Sizes) -> Iterator[tuple[int, int]]:
    """The pairs of sizes between which a percent can move: giver and taker."""
    within = [size_kib for size_kib in SIZES_KIB if sizes[0][0] <= size_kib <= sizes[-1][0]]
    return (move for move in permutations(within, 2) if mix.get(move[0]))


def _next_move(mix: Percents, sizes: Sizes, missing_kib: float) -> tuple[int, int] | None:
    """The best move of a percent: the furthest that does not pass the mean, else the nearest. None if none helps."""
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
