"""How a reason begins that names what the present volume has and the offer has not: reports look for it."""

from typing import Final

GIVEN_UP: Final = "given up: "
