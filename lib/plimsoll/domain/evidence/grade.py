"""The grade of an answer's evidence."""

from enum import IntEnum


class Grade(IntEnum):
    """The grades: C for published limits alone, B for measurements elsewhere or longer ago, A for ones made here
    lately."""

    C = 1
    B = 2
    A = 3
