"""The purposes of a cloud's permissions, in the words of the command line."""

from enum import StrEnum


class Purpose(StrEnum):
    """The purposes of a role: to audit, to probe or validate as well, or to carry out a recommendation."""

    AUDIT = "audit"
    PROBE = "probe"
    VALIDATE = "validate"
    CHANGE = "change"

    @property
    def says(self) -> str:
        """The sentence about the purpose, for the policy's description."""
        return _SAYS[self]


_SAYS = {
    Purpose.AUDIT: "Plimsoll audit: reads volumes, hosts, prices and metrics. Changes nothing.",
    Purpose.PROBE: "Plimsoll audit and probe: reads as an audit does, and what hosts count of their volumes.",
    Purpose.VALIDATE: "Plimsoll audit and validate: reads as an audit does, and changes scratch volumes alone.",
    Purpose.CHANGE: "Plimsoll change: for the person or pipeline that carries out a recommendation.",
}
