"""Carrying out one run: claimed, measured, judged, added to the library and noted in the book."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.validation.desk import Desk, Subject
from plimsoll.validation.keeping import conclude
from plimsoll.validation.measuring import measure
from plimsoll.validation.scratch_volume import Left

CLAIMED: Final = "another validation of the same class has not ended: try again when it has."
"""What is said where another's measurement of a class takes longer than is waited for."""


def carry_out(
    run: MeasuringRun,
    subject: Subject,
    mode: Mode,
    *,
    usd_month: float | None,
    desk: Desk,
    left: Callable[[Left], None],
) -> ValidationLine:
    """The verdict on a run's spec, measured now; or by another validation of the class that is under way.

    Raises NotMeasured or CloudError; then the class is free again, and nothing is left behind but what `left` hears.
    """
    key, holder = claim_key(run, subject.volume.id, mode), desk.new_id()
    shared = _claim(key, holder, desk)
    if shared is not None:
        return shared
    try:
        measured = measure(run, subject, mode, desk, left)
        line = conclude(run, subject, mode, measured, desk, validation_id=desk.new_id(), key=key, usd_month=usd_month)
        desk.book.add(line)
        return line
    finally:
        desk.claims.release(key, holder)


def claim_key(run: MeasuringRun, volume_id: str, mode: Mode) -> str:
    """What only one may measure at a time: a class, or a volume itself or its copy."""
    return run.class_key if mode is Mode.CANARY else f"{mode.value}/{volume_id}/{run.class_key}"


def _claim(key: str, holder: str, desk: Desk) -> ValidationLine | None:
    """None when the class is the holder's to measure; the verdict of another that was measuring it already."""
    began = desk.patience.now()
    until = began + timedelta(hours=desk.policy.scratch_hours)
    if desk.claims.claim(key, holder, until, began):
        return None
    desk.tell("this class is being measured by another validation: waiting for its result")
    desk.patience.wait_for(
        lambda: None if desk.claims.holder(key, desk.patience.now()) else True,
        limit_s=desk.patience.claim_s,
        otherwise=CLAIMED,
    )
    found = [line for line in desk.book.lines() if line.class_key == key and line.at >= began]
    if found:
        return found[-1]
    return _claim(key, holder, desk)
