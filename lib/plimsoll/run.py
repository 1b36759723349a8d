"""A run: an audit carried out into a folder, which can be interrupted and resumed."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from plimsoll.auditing.at_once import Deciders
from plimsoll.auditing.audit import no_stop, run_audit
from plimsoll.auditing.ports import AuditPorts
from plimsoll.files import make_file
from plimsoll.model.errors import BadAnswer, BadInput, CloudError, DiskFull, NothingRead
from plimsoll.model.units import MIB
from plimsoll.orders import CloudRequests, Order, describe, end_status
from plimsoll.outcomes import ANSWERED_BEFORE, Answered, FailedVolume, InScope, Outcome, Planned, Skipped, VolumesSeen
from plimsoll.ports import FailedTarget, Target
from plimsoll.reports.answers import answered_record, profile_record
from plimsoll.reports.promises import check_promises, keep_lessons, promises_in_run
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_folder import INTERRUPTED, JOURNAL, RUNNING, RunFolder, damage_texts, write_run
from plimsoll.reports.run_reader import UnansweredRecord, matched_records, stream_records
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.sorting import Largest
from plimsoll.reports.story.run import failed_places
from plimsoll.reports.totals import RunTotals
from plimsoll.risk.watch import Promised

WRONG_ANSWERS: Final = "wrong-answers.jsonl"
"""What clouds sent that could not be used, for who looks into it."""

MOST_BYTES: Final = 5_000_000
"""How much of them a run keeps: they are examples, and many are alike."""

BEST = 10
"""How many of the best savings a run keeps at hand to show."""

BYTES_A_VOLUME = 40_000
"""Bytes of a run's folder for each volume, reckoned with a quarter to spare: 13,600 in the files of answers (measured
of the simulated organization), 12,100 in the journal, which has the same records, and 6,000 assumed for reports."""
RESERVED_BYTES = 8 * MIB
"""What a run takes however few its volumes are."""

DESCRIBED_EVERY_S = 10.0
"""Seconds after which run.json says anew how far a run is: what a killed run has asked for is told to that."""


_GONE: Final = (
    "an earlier part of this run listed {what}, which is no longer listed, so {missing}. Resume the run again later; "
    "if it is gone for good, begin a new run."
)


@dataclass(slots=True, kw_only=True)
class RunProgress:
    """The progress of a run, and the best savings so far."""

    totals: RunTotals = field(default_factory=RunTotals)
    best: Largest[RecommendationRecord] = field(default_factory=lambda: Largest(most=BEST))
    status: str = RUNNING
    began: float = field(default_factory=time.monotonic)

    def add(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        self.totals.add(record)
        if record.monthly_usd_saved > 0:
            self.best.add(record.monthly_usd_saved, record.volume_id, record)


@dataclass(slots=True, kw_only=True)
class EarlierParts:
    """The places that a run began with, and its volumes without an answer by their ids.

    A list that lacks something looks like one from which it was taken away. What the run itself knows tells them apart.
    """

    places: set[str]
    volumes: dict[str, UnansweredRecord]

    @classmethod
    def from_folder(cls, folder: RunFolder) -> "EarlierParts":
        """The places and volumes that a run's folder knows; none of a new run.

        An id with a slash is the path of a disk whose number could not be read: it may be listed by that now.
        """
        volumes = {record.volume_id: record for record in folder.list_open_volumes() if "/" not in record.volume_id}
        return cls(places=folder.list_places(), volumes=volumes)

    def add_missing(self, outcomes: Iterator[Outcome], stopping: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes of this part, and after them one for each place and volume that they do not tell of.

        Where it stops early, nobody knows what it would have told of.
        """
        failed = list[str]()
        for outcome in outcomes:
            if isinstance(outcome, FailedTarget):
                failed.append(outcome.name)
            elif isinstance(outcome, InScope):
                self.places.difference_update(map(str, outcome.targets))
            else:
                self.volumes.pop(_volume_in(outcome), None)
            yield outcome
        if not stopping():
            yield from self._missing(failed)

    def _missing(self, failed: list[str]) -> Iterator[Outcome]:
        for place in sorted(self.places):
            if not _match_place(place, failed):
                reason = _GONE.format(what="it", missing="its volumes without an answer are not in this run")
                yield FailedTarget(name=place, error=CloudError(f"{place} is missing: {reason}"))
        for volume in self.volumes.values():
            place = f"{volume.account}/{volume.region}"
            if place in self.places or _match_place(place, failed):
                continue  # and with its place, what is in it
            target = Target(account=volume.account, region=volume.region, provider=volume.provider)
            yield VolumesSeen(target=target, volumes=1)
            reason = _GONE.format(what="the volume", missing="it has no answer")
            yield FailedVolume(target=target, volume_id=volume.volume_id, reason=reason)


def _match_place(place: str, failed: list[str]) -> bool:
    """True if what failed is the place, its account, or a role in that."""
    account = place.partition("/")[0]
    return any(name in {place, account} or f"::{account}:" in name for name in failed)


def _volume_in(outcome: Outcome) -> str:
    """The id of the volume that an outcome is about; "" if it is about none."""
    if isinstance(outcome, Answered):
        return outcome.recommendation.volume.id
    return getattr(outcome, "volume_id", "")


def carry_out(
    order: Order,
    audits: Sequence[AuditPorts],
    tell: Callable[[RunProgress, Outcome], None],
    *,
    stop: Callable[[], bool] = no_stop,
    progress: RunProgress | None = None,
    promised: dict[str, Promised] | None = None,
    learned: Path | None = None,
    deciders: Deciders | None = None,
) -> tuple[RunRecord, list[RecommendationRecord]]:
    """Audits one cloud's ports after the other into the order's folder; gives the run and the best savings.

    What the folder already answers is not asked again. `tell` is called after every outcome. On Ctrl-C and on errors
    everything answered so far stays on disk, run.json says `interrupted`, and the exception goes on. So it says where
    `stop` has said that nothing new is to be begun. `progress` is filled for who wants to know more afterwards.

    A run that has come to its end checks what earlier ones `promised`, by volume id, and notes there what it promises
    itself; nothing is checked where that is None, and by no recording, which is of another time. What it learns of
    headroom goes into the file `learned`, if that is given and there was enough to learn. Of many volumes, `deciders`
    decide beside this process.
    NothingRead, and no folder, where not one target of a new run can be read; BadInput likewise where the disk has no
    room for the first, and DiskFull where it becomes full: what was answered stays.
    """
    audits = [replace(ports, every_minute=ports.every_minute or order.every_minute) for ports in audits]
    progress = progress or RunProgress()
    progress.status = INTERRUPTED
    stopped = False

    def stopping() -> bool:
        nonlocal stopped
        stopped = stopped or stop()
        return stopped

    def begin(done: frozenset[str]) -> Iterator[Outcome]:
        return chain.from_iterable(
            run_audit(ports, order.policy, order.now, done=done, stop=stopping) for ports in audits
        )

    with RunFolder(order.folder) as folder, deciders or Deciders(0) as beside:
        audits = [replace(ports, deciders=beside) for ports in audits]
        for record in folder.records():
            progress.add(record)
        progress.totals.note(JOURNAL, damage_texts(folder.damaged))
        whole = EarlierParts.from_folder(folder).add_missing(begin(frozenset(folder.answered)), lambda: stopped)
        outcomes = _check_room(whole, order.folder)
        if not (order.folder / RUN).exists():
            outcomes = _await_reading(outcomes, stopping)
        folder.begin()
        try:
            described_s = -DESCRIBED_EVERY_S
            for outcome in outcomes:
                if time.monotonic() - described_s >= DESCRIBED_EVERY_S:
                    folder.describe(_run_content(order, audits, progress, status=RUNNING))
                    described_s = time.monotonic()
                _take(outcome, folder, progress)
                tell(progress, outcome)
            if not stopped:
                progress.status = end_status(progress.totals)
        finally:
            run = _run_content(order, audits, progress, status=progress.status)
            folder.describe(run)
    if promised is not None and not stopped and "recording" not in order.scope:
        run |= promises_in_run(check_promises(matched_records(order.folder, None), promised, order.now))
        run |= keep_lessons(stream_records(order.folder), order.now, order.policy, order.scope, learned)
        write_run(order.folder, run)
    return RunRecord.model_validate(run), progress.best.items


def _check_room(outcomes: Iterator[Outcome], folder: Path) -> Iterator[Outcome]:
    """The same outcomes; an error before a target's metrics are paid for where the disk has no room for its volumes."""
    for outcome in outcomes:
        if isinstance(outcome, Planned):
            needed, free = outcome.plan.volumes * BYTES_A_VOLUME + RESERVED_BYTES, shutil.disk_usage(folder).free
            if free < needed:
                refuse = DiskFull if (folder / RUN).exists() else BadInput
                raise refuse(
                    f"{folder} has {free / MIB:,.0f} MiB of room, and the {outcome.plan.volumes:,} volumes of "
                    f"{outcome.target} take about {needed / MIB:,.0f}: make room, or give a folder on another disk."
                )
        yield outcome


def _await_reading(outcomes: Iterator[Outcome], stopping: Callable[[], bool]) -> Iterator[Outcome]:
    """The same outcomes, waited for until a target has been read; NothingRead where they end before that."""
    held: list[Outcome] = []
    for outcome in outcomes:
        held.append(outcome)
        if isinstance(outcome, Planned):
            return chain(held, outcomes)
    if stopping():
        return iter(held)
    raise NothingRead(_reason_for_nothing([outcome for outcome in held if isinstance(outcome, FailedTarget)]))


def _reason_for_nothing(failed: Sequence[FailedTarget]) -> str:
    if not failed:
        return "there is no account, project or region to read: name some, or check what the scope leaves out."
    places = failed_places({target.name: str(target.error) for target in failed})
    return "\n".join(
        ["nothing could be read, so no run was written.", *(f"{', '.join(n)}: {why}" for n, why in places)]
    )


def _run_content(order: Order, audits: Sequence[AuditPorts], progress: RunProgress, *, status: str) -> dict[str, Any]:
    seconds = dict[str, float]()
    for ports in audits:
        for stage, taken_s in ports.stages.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + taken_s
    asked = {
        ports.catalog.provider: CloudRequests(usage=ports.metrics.usage, query_cost=ports.query_cost)
        for ports in audits
    }
    elapsed_s = time.monotonic() - progress.began
    return describe(order, progress.totals, status=status, asked=asked, seconds={**seconds, "elapsed": elapsed_s})


def _take(outcome: Outcome, folder: RunFolder, progress: RunProgress) -> None:
    if isinstance(outcome, Skipped) and outcome.reason == ANSWERED_BEFORE:
        return
    if isinstance(outcome, InScope):
        folder.note_places([str(target) for target in outcome.targets])
        return
    if isinstance(outcome, Answered):
        record, volume, profile = answered_record(outcome), outcome.recommendation.volume, outcome.profile
        progress.add(record)
        folder.add(record, None if profile is None else profile_record(volume, profile))
        return
    progress.totals.add(outcome)
    keep_wrong_answer(folder.path, outcome)
    if isinstance(outcome, Skipped | FailedVolume):
        folder.leave_out(_unanswered_record(outcome))
    folder.count(RunTotals.add_up([outcome], by=()))


def _unanswered_record(outcome: Skipped | FailedVolume) -> UnansweredRecord:
    return UnansweredRecord(
        account=outcome.target.account,
        region=outcome.target.region,
        volume_id=outcome.volume_id,
        outcome="skipped" if isinstance(outcome, Skipped) else "failed",
        reason=outcome.reason,
        provider=outcome.target.provider,
    )


def keep_wrong_answer(folder: Path, outcome: Outcome) -> None:
    """Keeps the answer that is the reason of an outcome, as a line: whose it is, why it was refused, and its text.

    The text is short and without secrets already. Most outcomes have none.
    """
    if isinstance(outcome, FailedVolume):
        name, reason, raw = f"{outcome.target}/{outcome.volume_id}", outcome.reason, outcome.raw
    elif isinstance(outcome, FailedTarget) and isinstance(outcome.error, BadAnswer):
        name, reason, raw = outcome.name, str(outcome.error), outcome.error.raw
    else:
        return
    path = folder / WRONG_ANSWERS
    if not raw or (path.exists() and path.stat().st_size > MOST_BYTES):
        return
    make_file(path)
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(json.dumps({"of": name, "reason": reason, "answer": raw}, ensure_ascii=False) + "\n")
