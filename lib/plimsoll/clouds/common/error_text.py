"""One line: what a cloud says, fit for a sentence of ours."""


def one_line(text: str) -> str:
    """The text on one line, without the full stop at its end."""
    return " ".join(text.split()).rstrip(".")
