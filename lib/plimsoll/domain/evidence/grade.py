"""How sure an answer is: its grade."""

from enum import IntEnum


class Grade(IntEnum):
    """How sure: C published limits alone, B measured elsewhere or longer ago, A measured here lately."""

    C = 1
    B = 2
    A = 3
