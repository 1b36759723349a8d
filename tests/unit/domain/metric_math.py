"""A small evaluator of CloudWatch's metric math: numbers, ids, + - * /, parentheses, PERIOD(id) and FILL(id, n).

As the service documents it: in arithmetic a missing point counts as zero, and a division by zero drops the point.
A series is a mapping of timestamps to values; PERIOD of a series without a point is refused, since what the service
does with one is not documented.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

Series = Mapping[int, float]
Value = float | Series

TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([-+*/(),]))")
OPERATORS: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def evaluate(expression: str, metrics: Mapping[str, Series], *, timestamps: Iterable[int], period_s: int) -> Value:
    """The value of an expression over metrics by id, read in buckets of `period_s` seconds at those timestamps."""
    parser = _Parser(_tokens(expression), metrics, list(timestamps), period_s)
    value = parser.sum()
    parser.end()
    return value


def _tokens(expression: str) -> list[str]:
    tokens, position = [], 0
    while position < len(expression):
        match = TOKEN.match(expression, position)
        if match is None:
            raise SyntaxError(f"{expression!r} at {position}")
        tokens.append(match.group().strip())
        position = match.end()
    return tokens


class _Parser:
    def __init__(self, tokens: Sequence[str], metrics: Mapping[str, Series], timestamps: Sequence[int], period_s: int):
        self.tokens, self.metrics, self.timestamps, self.period_s = list(tokens), metrics, timestamps, period_s

    def sum(self) -> Value:
        return self._chain({"+", "-"}, self._product)

    def end(self) -> None:
        if self.tokens:
            raise SyntaxError(f"unexpected {self.tokens}")

    def _chain(self, symbols: set[str], operand: Callable[[], Value]) -> Value:
        value = operand()
        while self.tokens and self.tokens[0] in symbols:
            value = _combined(self.tokens.pop(0), value, operand())
        return value

    def _product(self) -> Value:
        return self._chain({"*", "/"}, self._atom)

    def _atom(self) -> Value:
        token = self.tokens.pop(0)
        if token == "(":
            value = self.sum()
            self._expect(")")
            return value
        if token[0].isdigit():
            return float(token)
        if self.tokens and self.tokens[0] == "(":
            return self._call(token)
        return self.metrics[token]

    def _call(self, name: str) -> Value:
        self._expect("(")
        series = self.metrics[self.tokens.pop(0)]
        if name == "PERIOD":
            self._expect(")")
            if not series:
                raise ValueError("PERIOD of a metric without points")
            return float(self.period_s)
        if name == "FILL":
            self._expect(",")
            filler = float(self.tokens.pop(0))
            self._expect(")")
            return {stamp: series.get(stamp, filler) for stamp in self.timestamps}
        raise SyntaxError(f"unknown function {name}")

    def _expect(self, token: str) -> None:
        if self.tokens.pop(0) != token:
            raise SyntaxError(f"{token} expected")


def _combined(symbol: str, left: Value, right: Value) -> Value:
    apply = OPERATORS[symbol]
    if isinstance(left, float) and isinstance(right, float):
        return apply(left, right)
    stamps = {stamp for side in (left, right) if isinstance(side, Mapping) for stamp in side}
    found = {}
    for stamp in sorted(stamps):
        one, other = (side.get(stamp, 0.0) if isinstance(side, Mapping) else side for side in (left, right))
        if symbol == "/" and other == 0:
            continue
        found[stamp] = apply(one, other)
    return found
