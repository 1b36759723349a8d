"""The injector: what a run's plan makes of each answer, and a list of all that it did."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from .calls import TOKENS, Asked
from .formats import Decoded, decoded, encoded, format_of
from .life import Life, life_of
from .mutations import MUTATIONS, Mutation, same_id
from .places import Path, paths_in, places_of
from .plan import ALWAYS, NOW_AND_THEN, ONCE, STUCK, Plan, Strike
from .refusals import REFUSED, WIRE, Reply, broken, refused

_TRUTH: Final = "truth-value"
PAGING: Final = ("same-token", "two-tokens", "endless-tokens", "endless-empty-pages", "empty-pages", "token-twice")
_OURS: Final = "plimsoll-fault-"
OUTAGE: Final = "outage"
SAME_ID: Final = "same-id"
INSIDE: Final = (*MUTATIONS, SAME_ID, OUTAGE)
_POINTS: Final = 0.4

Forward = Callable[[Asked], Reply]


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault that was carried out: of which operation, at which field (empty: none), and whether it can be life."""

    operation: str
    fault: str
    path: Path
    life: Life | None = None


@dataclass(slots=True, kw_only=True)
class Injector:
    """Carries a plan out. `known` has the questions of an undisturbed run by operation, in one order."""

    plan: Plan
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    on_call: Callable[[int], None] = lambda _count: None
    injected: list[Injected] = field(default_factory=list)
    calls: int = 0
    asked: dict[str, list[str]] = field(default_factory=dict)
    _seen: Counter[tuple[str, int]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: Asked, forward: Forward) -> Reply:
        """The answer to a call, as the plan has it."""
        with self._lock:
            self.calls += 1
            count = self.calls
            self.asked.setdefault(asked.operation, []).append(asked.key)
        self.on_call(count)
        good = None
        for number, strike in enumerate(self.plan.strikes):
            chance = self._chance(number, strike, asked)
            if chance is None:
                continue
            if strike.fault in PAGING:
                return self._paged(strike, asked, forward)
            if strike.fault in REFUSED:
                return self._did(strike, refused(asked, strike.fault))
            if strike.fault == "reset-before":
                return self._did(strike, Reply(how="reset"))
            good = good or forward(asked)
            if strike.fault in WIRE:
                return self._did(strike, broken(strike.fault, good))
            good = self._changed(strike, good, chance)
        return good or forward(asked)

    def _chance(self, number: int, strike: Strike, asked: Asked) -> random.Random | None:
        """The chances of a strike that meets this call; None where it does not."""
        if strike.operation != asked.operation:
            return None
        key = asked.for_page("").key if strike.fault in PAGING else asked.key
        with self._lock:
            self._seen[key, number] += 1
            seen = self._seen[key, number]
        fixed = random.Random(f"{self.plan.seed} {number} {key}")
        if strike.often == NOW_AND_THEN and strike.fault not in PAGING:
            drawn = random.Random(f"{self.plan.seed} {number} {key} {seen}")
            return drawn if drawn.random() < strike.share else None
        known = self.known.get(asked.operation, ())
        chosen = known[int(strike.which * len(known))] if known else key
        hit = strike.often in {ALWAYS, NOW_AND_THEN} or key == chosen
        if not hit or (strike.often == ONCE and seen > 1 and strike.fault not in PAGING):
            return None
        assert strike.often in {ONCE, STUCK, ALWAYS, NOW_AND_THEN}
        return fixed

    def _did(self, strike: Strike, reply: Reply, path: Path = (), life: Life | None = None) -> Reply:
        with self._lock:
            self.injected.append(Injected(strike.operation, strike.fault, path, life))
        return reply

    def _changed(self, strike: Strike, good: Reply, rng: random.Random) -> Reply:
        """The answer with one field of it wrong, in one place or in every one; as it was where nothing fits."""
        kind = format_of(good.headers.get("Content-Type", ""))
        if kind is None or good.status != 200:
            return good
        answer = decoded(kind, good.body)
        found = change(answer, strike, rng)
        if found is None:
            return good
        path, life = found
        try:
            written = encoded(answer)
        except ValueError:
            return good
        return self._did(strike, replace(good, body=written), path, life)

    def _paged(self, strike: Strike, asked: Asked, forward: Forward) -> Reply:
        """A page with a token of ours; where the plan has empty pages before it, without its entries."""
        token = asked.token
        step = int(token.removeprefix(_OURS)) if token.startswith(_OURS) else 0
        good = forward(asked.for_page("") if token.startswith(_OURS) else asked)
        kind = format_of(good.headers.get("Content-Type", ""))
        if kind is None or good.status != 200:
            return good
        answer = decoded(kind, good.body)
        if not turn_page(answer, strike.fault, step, TOKENS[asked.operation][1]):
            return good
        return self._did(strike, replace(good, body=encoded(answer)))


def turn_page(answer: Decoded, fault: str, step: int, name: str) -> bool:
    """Gives a page the next token of a paging fault, after `step` such pages; False where it is to be left alone."""
    empties = {"empty-pages": 2, "endless-empty-pages": 10**9}.get(fault, 0)
    if (fault == "empty-pages" and step >= empties) or (fault == "token-twice" and step >= 1):
        return False
    if step < empties:
        for path in [path for path in paths_in(answer.tree) if len(path) == 1]:
            for container, key in places_of(answer.tree, path):
                if isinstance(container[key], list | dict):
                    container[key].clear()
    following = {"same-token": 0, "two-tokens": (step + 1) % 2}.get(fault, step + 1)
    answer.tree[name] = f"{_OURS}{following}"
    return True


def candidates(answer: Decoded, fault: str) -> list[Path]:
    """The fields of an answer that can be wrong in that way."""
    if fault == OUTAGE:
        return [("MetricDataResults",)] if _timed(answer) else []
    if fault == _TRUTH and answer.format == "proto":
        return []  # a number's field of protobuf holds no truth value: it would arrive as the number 1
    mutation = MUTATIONS["unknown-id" if fault == SAME_ID else fault]
    paths = paths_in(answer.tree)
    found = [
        path for path in paths if any(mutation.fits(path, at[key], at) for at, key in places_of(answer.tree, path)[:50])
    ]
    if fault == SAME_ID:
        return [path for path in found if len(places_of(answer.tree, path)) > 1]
    return found


def _fits_somewhere(mutation: Mutation, answer: Decoded, path: Path) -> bool:
    return any(mutation.fits(path, at[key], at) for at, key in places_of(answer.tree, path)[:50])


def change(answer: Decoded, strike: Strike, rng: random.Random) -> tuple[Path, Life | None] | None:
    """Makes one field of an answer wrong; gives which, and what of it can be life. None where none can be."""
    fields = candidates(answer, strike.fault)
    if not fields:
        return None
    path = fields[int(strike.where * len(fields))]
    if strike.fault == OUTAGE:
        _silence(answer, rng)
        return path, Life(everything=True)
    places = places_of(answer.tree, path)
    mutation = MUTATIONS["unknown-id" if strike.fault == SAME_ID else strike.fault]
    fitting = [(at, key) for at, key in places if mutation.fits(path, at[key], at)]
    chosen = fitting if strike.all_items else [rng.choice(fitting)]
    life = life_of(answer.tree, strike, path, chosen)
    others = sorted({at[key] for at, key in fitting}) if strike.fault == SAME_ID else []
    for at, key in reversed(chosen):  # from the end, so that what is deleted moves nothing that is still to come
        if strike.fault == SAME_ID:
            same_id(at, key, others, rng)
        else:
            mutation.apply(at, key, rng)
    after = life.after(answer.tree) if life else None
    return path, after


def _timed(answer: Decoded) -> bool:
    return isinstance(answer.tree, dict) and bool(answer.tree.get("MetricDataResults"))


def _silence(answer: Decoded, rng: random.Random) -> None:
    """Takes the same hours from every series, as of a volume that was attached to nothing then."""
    series = [one for one in answer.tree["MetricDataResults"] if one.get("Timestamps")]
    stamps = sorted({stamp for one in series for stamp in one["Timestamps"]})
    if not stamps:
        return
    first = stamps[int(rng.random() * len(stamps))]
    last = stamps[min(len(stamps) - 1, stamps.index(first) + int(len(stamps) * _POINTS))]
    for one in series:
        kept = [
            (at, value) for at, value in zip(one["Timestamps"], one["Values"], strict=True) if not first <= at <= last
        ]
        one["Timestamps"], one["Values"] = [at for at, _ in kept], [value for _, value in kept]
