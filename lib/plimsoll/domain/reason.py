"""A reason: a sentence that a person reads in an answer, with the code of what it says."""


class Reason(str):
    """A sentence with its `code`: sentences may be worded anew, and nothing asks how one begins."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> "Reason":
        """The sentence with that code."""
        reason = super().__new__(cls, text)
        reason.code = code
        return reason

    def __reduce__(self) -> tuple[type["Reason"], tuple[str, str]]:
        """What another process makes the same reason of."""
        return Reason, (self.code, str(self))
