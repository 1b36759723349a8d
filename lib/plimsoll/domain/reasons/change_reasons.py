"""What is said of a change that somebody made lately: an answer may contradict it."""

from collections.abc import Iterator, Sequence

from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.demand.settling import find_raised
from plimsoll.domain.reason import Reason
from plimsoll.domain.reasons.words import day_of
from plimsoll.domain.volume import VolumeSpec


def lately_changed(case: Case, target: VolumeSpec) -> Iterator[Reason]:
    """That limits were raised within the window, and whether an answer with that target takes it back; of lowered ones
    only where it does."""
    when, before = _latest(case)
    was, now, then = (_ceiling(case, spec) for spec in (before, case.volume.spec, target))
    for code, word, changed, back in (
        ("raised-lately", "raised", sorted(find_raised(was, now)), set(find_raised(then, now))),
        ("lowered-lately", "lowered", sorted(find_raised(now, was)), set(find_raised(now, then))),
    ):
        text = f"Somebody {word} its {' and '.join(side.unit for side in changed)} {when}: it was {before}."
        if not back.isdisjoint(changed):
            yield Reason(
                code, f"{text} This answer takes that back, at least in part. Ask why it was done before you follow it."
            )
        elif changed and code == "raised-lately":
            yield Reason(code, text)


def _ceiling(case: Case, spec: VolumeSpec | None) -> Ceiling | None:
    """What it carries, whatever its hosts do; None where that is not known."""
    kind = None if spec is None else case.market.types.get(spec.type)
    return None if kind is None or spec is None else kind.ceiling(spec)


def _latest(case: Case) -> tuple[str, VolumeSpec | None]:
    """When the configuration was changed last, and what it was before; None where no change of the window is known."""
    change = case.volume.modification
    if change is not None and change.started.timestamp() >= case.demand.start_s:
        return f"on {day_of(change.started.timestamp())}", change.original
    specs = [epoch.spec or epoch.on_record for epoch in case.epochs]
    others = [place for place, spec in enumerate(specs) if spec not in {None, case.volume.spec}]
    if not others:
        return "", None
    last = others[-1]
    first, until = day_of(case.epochs[last].window.end_s), day_of(_known_again_s(case.epochs[last:]))
    return f"on {first}" if first == until else f"between {first} and {until}", specs[last]


def _known_again_s(epochs: Sequence[Epoch]) -> int:
    """When it is known again what the volume was, after the first of some epochs; the end where it is not."""
    return next((epoch.window.start_s for epoch in epochs[1:] if epoch.spec is not None), epochs[-1].window.end_s)
