"""At once: threads and processes that carry out an audit's work, and the seconds that its stages take.

Targets are read side by side: places may be slow or hang, and one of them does not hold the others. Batches of a target
go ahead of who takes their outcomes.

Deciders are processes that decide on batches of volumes, so that an audit uses all processors of a machine. Only
decisions are made there. A decider knows no cloud and has no credentials: it asks the process that started it for the
metrics it needs. Quotas, retries and recordings stay in one place therefore, and the answers are the same.

Both sides send pickles over the decider's standard input and output:

    a batch                      →
                                 ←  ("ask", what is to be read of which volumes)
    what was found               →      … as often as the batch needs
                                 ←  ("done", the decisions) or ("failed", the error)
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import IO, Any, Final, Protocol, Self, TypeVar

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume
from plimsoll.reading.known import Ask, Fetch, Found, Look

AT_ONCE: Final = 8
"""Places under way at once, or done and not yet taken: what is kept of the fleet is theirs alone."""

PATIENCE_S: Final = 30.0
"""Seconds that places which are done wait for an earlier one that is not."""

BATCHES_AT_ONCE: Final = 2
"""Batches under way at once: one is decided while another waits for its metrics. Each process that decides has one."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], *, at_once: int = AT_ONCE, patience_s: float = PATIENCE_S
) -> Iterator[Result]:
    """The results in the order of their items, but that one which takes longer than `patience_s` lets others go first.

    At most `at_once` are under way or not yet taken. What `work` raises goes on to the caller. When the caller stops,
    what is under way is left to itself, and does not keep the process from ending.
    """
    waiting = iter(items)
    under_way = [begin(work, item) for item in islice(waiting, at_once)]
    while under_way:
        result = under_way.pop(_next_of(under_way, patience_s)).result()
        under_way += [begin(work, item) for item in islice(waiting, 1)]
        yield result


def _next_of(under_way: Sequence[Future[Result]], patience_s: float) -> int:
    """The place of the first one; where it is not done in time, of the first that is done."""
    if not wait(under_way[:1], timeout=patience_s).done:
        wait(under_way, return_when=FIRST_COMPLETED)
    return next(place for place, future in enumerate(under_way) if future.done())


def begin(work: Callable[[Item], Result], item: Item) -> Future[Result]:
    """The future of an item's work, in a thread of its own. The process does not wait for it at its end."""
    future = Future[Result]()

    def carry_out() -> None:
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001  # it goes on to who asks for the result
            future.set_exception(error)

    threading.Thread(target=carry_out, daemon=True).start()
    return future


def ahead(work: Callable[[Item], Result], items: Iterable[Item], at_once: int = BATCHES_AT_ONCE) -> Iterator[Result]:
    """The results in the order of their items. At most `at_once` are under way or not yet taken, each in a thread.

    When the caller stops, no further item begins, and those under way are waited for.
    """
    pool = ThreadPoolExecutor(max_workers=at_once)
    under_way: deque[Future[Result]] = deque()
    try:
        for item in items:
            under_way.append(pool.submit(work, item))
            if len(under_way) == at_once:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@dataclass(slots=True)
class Stages:
    """Seconds spent in each named stage, summed over all threads: the sum can exceed the time that passed."""

    seconds: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @contextmanager
    def stage(self, name: str, *, within: str | None = None) -> Iterator[None]:
        """Counts the block's time to the stage `name`, and takes it off the stage that it is `within`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            taken_s = time.perf_counter() - start
            with self._lock:
                self.seconds[name] = self.seconds.get(name, 0.0) + taken_s
                if within is not None:
                    self.seconds[within] = self.seconds.get(within, 0.0) - taken_s


_Decisions = TypeVar("_Decisions")
_Decisions_co = TypeVar("_Decisions_co", covariant=True)


class DecidableBatch(Protocol[_Decisions_co]):
    """A batch of volumes to decide on. It goes to a process and back as a pickle."""

    @property
    def pending(self) -> Sequence[Volume]:
        """The volumes that are decided on."""

    @property
    def volumes(self) -> Sequence[Volume]:
        """The volumes whose metrics it may ask for."""

    def decide(self, fetch: Fetch) -> _Decisions_co:
        """The decisions, by metrics that are fetched as they need them."""

    def without_kept(self) -> Self:
        """The batch without what is kept between decisions, which is of one process."""

    def with_kept_of(self, earlier: Self | None) -> Self:
        """The batch with what an earlier one keeps, if both rest on the same."""


ENOUGH_VOLUMES: Final = 1_000
"""The volumes from which on processes gain more than they cost: each takes half a second of CPU to start."""

LEAST_BATCH: Final = 25
"""Volumes that are worth the way to a decider and back."""

DECIDER_S: Final = 300.0
"""Seconds that a process may take to its next word where no setting says it; most batches take a few."""

ENDED: Final = (EOFError, BrokenPipeError, pickle.UnpicklingError)
"""What is raised where a process ends while it is spoken to."""

PASSED_ON: Final = ("PATH", "PYTHON", "LD_", "DYLD_", "LANG", "LC_", "SYSTEMROOT")
"""The beginnings of the environment variables that Python may need to start; no other is passed on."""

Packed = tuple[list[CloudError | dict[str, int]], FloatArray]
"""What was found: of each ask the number of buckets of each series, or an error; and all buckets, one after another."""


class Deciders:
    """Up to `most` processes, started once an audit has `enough` volumes for them, and ended with it.

    There is never one alone: this process would wait for it, and do the same in no less time. One that says nothing for
    `patience_s` while it is its turn is ended too, as one that died.
    """

    def __init__(self, most: int, patience_s: float = DECIDER_S, enough: int = ENOUGH_VOLUMES) -> None:
        """With fewer than two, all is decided in this process."""
        self._most = most if most > 1 else 0
        self._patience_s = patience_s
        self._enough = enough
        self._volumes = 0
        self._all: list[_Decider] = []
        self._idle: queue.SimpleQueue[_Decider] = queue.SimpleQueue()
        self._lock = threading.Lock()

    def __enter__(self) -> "Deciders":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for decider in self._all:
            decider.end()

    def begin(self, volumes: int) -> int:
        """The number of processes for the batches of further volumes; they are started when need be."""
        with self._lock:
            self._volumes += volumes
            if not self._all and self._volumes >= self._enough:
                self._start()
            return sum(not decider.ended for decider in self._all)

    def _start(self) -> None:
        """Starts as many processes as the machine lets it: what has none is decided here."""
        try:
            for _ in range(self._most):
                decider = _Decider(self._patience_s)
                self._all.append(decider)
                self._idle.put(decider)
        except OSError as error:
            warnings.warn(f"only {len(self._all)} of {self._most} processes could be started: {error}", stacklevel=3)
            self._most = len(self._all)  # Nor is it tried again for each further account.
            if self._most == 1:
                self._idle.get().end()

    def decide(self, batch: DecidableBatch[_Decisions], fetch: Fetch) -> _Decisions:
        """The decisions on a batch, by a process that is idle; here where there is none, it is not worth the way, or
        the process ends before its answer."""
        if len(batch.pending) < LEAST_BATCH:
            return batch.decide(fetch)
        try:
            decider = self._idle.get_nowait()
        except queue.Empty:
            return batch.decide(fetch)
        try:
            decisions = decider.decide(batch, fetch)
        except ENDED:
            decider.end()
            return batch.decide(fetch)
        except BaseException:
            decider.end()  # It may be waiting for an answer that nobody will give.
            raise
        self._idle.put(decider)
        return decisions


class _Decider:
    """A process, as the one that started it sees it. Its session is its own: Ctrl-C is the audit's to take."""

    def __init__(self, patience_s: float) -> None:
        self.ended = False
        self._patience_s = patience_s
        self._process = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-m", __name__],
            env={
                **{name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)},
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "OPENBLAS_NUM_THREADS": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def decide(self, batch: DecidableBatch[_Decisions], fetch: Fetch) -> _Decisions:
        """The decisions on a batch; one of the errors of `ENDED` where the process ends before its answer."""
        volumes = {volume.id: volume for volume in batch.volumes}
        kind, content = self._answer_to(batch.without_kept())
        while True:
            match kind:
                case "ask":
                    asks = [Ask(volume=volumes[volume_id], look=look) for volume_id, look in content]
                    kind, content = self._answer_to(_pack(fetch(asks)))
                case "done":
                    decisions: _Decisions = content
                    return decisions
                case _:
                    raise content

    def _answer_to(self, message: object) -> tuple[str, Any]:
        """The process's next message after one to it. A process that is killed for its silence ends like any other."""
        if self._process.stdin is None or self._process.stdout is None:
            raise BrokenPipeError
        stuck = threading.Timer(self._patience_s, self._process.kill)
        stuck.daemon = True
        stuck.start()
        try:
            _send(self._process.stdin, message)
            answer: tuple[str, Any] = pickle.load(self._process.stdout)  # noqa: S301  # our own process wrote it
        finally:
            stuck.cancel()
        return answer

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self.ended = True
        self._process.kill()
        self._process.communicate()


def _send(pipe: IO[bytes], message: object) -> None:
    pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _pack(answers: Sequence[Found | CloudError]) -> Packed:
    """The answers' values as one array: a pickle of many small ones takes longer than to decide."""
    arrays = [values for answer in answers if not isinstance(answer, CloudError) for values in answer.values()]
    lengths = [
        answer if isinstance(answer, CloudError) else {name: len(values) for name, values in answer.items()}
        for answer in answers
    ]
    return lengths, np.concatenate(arrays) if arrays else np.empty(0)


def _unpack(packed: Packed) -> list[Found | CloudError]:
    lengths, values = packed
    answers: list[Found | CloudError] = []
    at = 0
    for entry in lengths:
        if isinstance(entry, CloudError):
            answers.append(entry)
            continue
        series: dict[str, FloatArray] = {}
        for name, length in entry.items():
            series[name] = values[at : at + length]
            at += length
        answers.append(series)
    return answers


def serve_batches(batches: IO[bytes], answers: IO[bytes]) -> None:
    """Decides on one batch after the other until nothing more is given."""

    def fetch(asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        wanted: list[tuple[str, Look]] = [(ask.volume.id, ask.look) for ask in asks]
        _send(answers, ("ask", wanted))
        return _unpack(pickle.load(batches))  # noqa: S301  # who started this process wrote it

    earlier: DecidableBatch[Mapping[str, Any]] | None = None
    while True:
        try:
            batch: DecidableBatch[Mapping[str, Any]] = pickle.load(batches)  # noqa: S301  # who started this process wrote it
        except EOFError:
            return
        earlier = batch = batch.with_kept_of(earlier)
        reply: tuple[str, Mapping[str, Any] | Exception]
        try:
            reply = "done", batch.decide(fetch)
        except EOFError:
            return
        except Exception as error:  # noqa: BLE001  # it goes on to who asked
            error.add_note(traceback.format_exc())
            reply = "failed", error
        _send(answers, reply)


if __name__ == "__main__":
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as own:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What is printed must not end up among the answers.
        serve_batches(sys.stdin.buffer, own)
