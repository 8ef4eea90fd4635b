"""Work that is spread over processes: one `map` behind two engines, processes of this machine and Ray.

>>> import math
>>> [outcome.result() for outcome in map(math.factorial, [3, 4, 5])]
[6, 24, 120]

`map(work, arguments, engine, groups=...)` calls a function with each argument and yields an `Outcome` as each is finished, in any
order: `outcome.place` is the number of its argument. Without an engine everything is done here, one after the other. With
`Local(workers=2)` there are two processes, with `Ray(workers=2)` two actors of a cluster; neither changes what comes out, as long
as the function's result follows from its argument alone (a seed is part of the argument). The function is one of a module, which
the processes import; what it needs from call to call it keeps in a variable of its module (`functools.cache`). Arguments of one
group go to one process before it is given another's, so that what it keeps for the group is made seldom.

A process that dies is started again, and what it was at is given to any; after `attempts` deaths its outcome is `Lost`.
"""

import builtins
import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from .errors import require

ATTEMPTS = 4  # to do one thing whose process dies
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS")
SHORT = "/tmp"  # where sockets have paths of fewer than 107 characters

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Work = Callable[[Any], Any]


class Lost(RuntimeError):
    """A process died, with all that it was at."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What came of one argument: a value, or the error that kept it from being one, and which worker it was."""

    place: int
    worker: int
    value: Result | None = None
    error: Exception | None = None

    def result(self) -> Result:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Seat(Protocol):
    """A worker's place: its process can be started again."""

    def start(self) -> None:
        """Start the process, and wait until it is there."""

    def call(self, work: Work, argument: Any) -> Any:
        """Return what the process makes of an argument; raises `Lost` where it dies, and what the work raises."""

    def stop(self) -> None:
        """End the process, at once."""


class Engine(Protocol):
    """Where work is done: how many workers there are, and what each has."""

    def seats(self) -> contextlib.AbstractContextManager[Sequence[Seat]]:
        """Give the places of the workers, as long as there is work."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine: each has so many threads, and so many of its cards (a half is shared by two; 0: none).

    By default there are as many workers as the cards allow, or one without cards.
    """

    workers: int | None = None
    threads: int = 1
    cards: float = 0

    @contextlib.contextmanager
    def seats(self) -> Iterator[Sequence[Seat]]:
        """Give the processes."""
        shares = _shares(visible_cards(), self.cards)
        if self.cards and not shares:
            raise ValueError(
                f"{self.cards:g} cards a worker are asked for, and this machine has {len(visible_cards())}; expected as many, "
                "or another engine"
            )
        places = shares if self.cards else [""]
        if self.workers is not None:
            places = [places[number % len(places)] for number in range(self.workers)]
        processes = [_Process({**_threads(self.threads), "CUDA_VISIBLE_DEVICES": place}) for place in places]
        try:
            yield processes
        finally:
            for process in processes:
                process.stop()


@dataclass(frozen=True)
class Ray:
    """Actors of Ray (the extra `cluster`): each has so many processors and cards, all on one machine of the cluster.

    Without an `address` a cluster of this machine is started and ended, without a dashboard, and tells nobody of its use.
    """

    workers: int = 1
    threads: int = 1
    cards: float = 0
    address: str | None = None

    def most_cards(self) -> float:
        """Return the cards of the machine that has the most."""
        with self._started() as ray:
            return max(float(node["Resources"].get("GPU", 0)) for node in ray.nodes() if node["Alive"])

    @contextlib.contextmanager
    def _started(self) -> Iterator[Any]:
        """Give the library, connected; a cluster that was not there is started and ended."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray: Any = require("ray", "cluster")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        with contextlib.ExitStack() as stack:
            if not ray.is_initialized():
                if self.address:
                    ray.init(address=self.address, **quiet)
                else:
                    base = SHORT if Path(SHORT).is_dir() else None
                    folder = stack.enter_context(
                        tempfile.TemporaryDirectory(prefix="gp", dir=base, ignore_cleanup_errors=True)
                    )
                    ray.init(
                        num_cpus=max(self.workers * self.threads, os.cpu_count() or 1),
                        include_dashboard=False,
                        _temp_dir=folder,
                        **quiet,
                    )
                stack.callback(ray.shutdown)
            yield ray

    @contextlib.contextmanager
    def seats(self) -> Iterator[Sequence[Seat]]:
        """Give the actors."""
        with self._started() as ray:
            room = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            if not any(r.get("CPU", 0) >= self.threads and r.get("GPU", 0) >= self.cards for r in room):
                most = max(r.get("GPU", 0) for r in room)
                raise ValueError(
                    f"{self.cards:g} cards and {self.threads} processors a worker are asked for, and no machine of the cluster has "
                    f"as many: one has {most:g} cards at most"
                )
            actors = [_Actor(ray, self.threads, self.cards) for _ in range(self.workers)]
            try:
                yield actors
            finally:
                for actor in actors:
                    actor.stop()


def map(
    work: Callable[[Argument], Result],
    arguments: Iterable[Argument],
    engine: Engine | None = None,
    *,
    groups: Sequence[Hashable] | None = None,
    attempts: int = ATTEMPTS,
) -> Iterator[Outcome[Result]]:
    """Yield what a function makes of each argument, as it is finished; see the module.

    `groups` has the group of each argument. What the function raises is in the outcome. Whoever stops to iterate ends the
    processes. Raises `ValueError` for a function that other processes cannot import, and where the engine has no such workers.
    """
    arguments = list(arguments)
    if engine is None:
        yield from (_here(work, place, argument) for place, argument in enumerate(arguments))
        return
    if getattr(getattr(work, "func", work), "__module__", None) == "__main__":
        raise ValueError(
            f"{work!r} is defined in a script; expected a function of a module, which processes can import"
        )
    plan = _Plan(list(groups) if groups is not None else [None] * len(arguments), attempts)
    done: queue.SimpleQueue[Outcome[Result]] = queue.SimpleQueue()
    with engine.seats() as seats:
        for number, seat in enumerate(seats[: len(arguments)]):
            threading.Thread(target=_serve_seat, args=(number, seat, work, arguments, plan, done), daemon=True).start()
        try:
            for _ in arguments:
                outcome = done.get()
                if outcome.place < 0:
                    outcome.result()
                yield outcome
        finally:
            plan.close()


def visible_cards() -> list[str]:
    """Return the numbers of NVIDIA's cards that this process may use, as CUDA_VISIBLE_DEVICES or the driver says."""
    stated = os.environ.get("CUDA_VISIBLE_DEVICES")
    if stated is not None:
        return [card for card in stated.split(",") if card.strip() not in ("", "-1")]
    return [str(number) for number, _ in enumerate(Path("/proc/driver/nvidia/gpus").glob("*"))]


def _shares(cards: Sequence[str], each: float) -> list[str]:
    """Return the cards of each worker.

    >>> _shares(["0", "1"], 0.5), _shares(["0", "1", "2"], 2)
    (['0', '0', '1', '1'], ['0,1'])
    """
    if each < 1:
        return [card for card in cards for _ in range(int(1 / each))] if each else []
    step = int(each)
    return [",".join(cards[start : start + step]) for start in range(0, len(cards) - step + 1, step)]


def _threads(number: int) -> dict[str, str]:
    return {**dict.fromkeys(THREADS, str(number)), "TOKENIZERS_PARALLELISM": "false"}


def _here(work: Callable[[Argument], Result], place: int, argument: Argument) -> Outcome[Result]:
    try:
        return Outcome(place, 0, work(argument))
    except Exception as error:
        return Outcome(place, 0, error=error)


@dataclass
class _Plan:
    """What is still to do, by group, and how often a process died over it."""

    groups: list[Hashable]
    attempts: int
    waiting: dict[Hashable, deque[int]] = field(default_factory=dict)
    workers: Counter[Hashable] = field(default_factory=Counter)
    deaths: Counter[int] = field(default_factory=Counter)
    left: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        for place, group in enumerate(self.groups):
            self.waiting.setdefault(group, deque()).append(place)
        self.left = len(self.groups)

    def take(self, group: Hashable) -> int | None:
        """Return what comes next for who was at a group: of the same, else of the one with the most to do for each worker.

        None when all is done; as long as others are at something that may come back, this waits.
        """
        with self.changed:
            while self.left and not any(self.waiting.values()):
                self.changed.wait()
            if not self.left:
                return None
            if not self.waiting.get(group):
                self.workers[group] -= 1
                group = max(self.waiting, key=lambda one: len(self.waiting[one]) / (1 + max(0, self.workers[one])))
                self.workers[group] += 1
            return self.waiting[group].popleft()

    def back(self, place: int) -> bool:
        """Give back what a process died over; return whether it is tried again."""
        with self.changed:
            self.deaths[place] += 1
            again = self.deaths[place] < self.attempts
            if again:
                self.waiting[self.groups[place]].appendleft(place)
                self.changed.notify_all()
            return again

    def finished(self) -> None:
        """Count one as done."""
        with self.changed:
            self.left -= 1
            self.changed.notify_all()

    def close(self) -> None:
        """Let nobody take anything any more."""
        with self.changed:
            self.left = 0
            self.changed.notify_all()


def _serve_seat(
    number: int,
    seat: Seat,
    work: Work,
    arguments: Sequence[Any],
    plan: _Plan,
    done: "queue.SimpleQueue[Outcome[Any]]",
) -> None:
    """Do what is to be done at one seat until nothing is left."""
    group: Hashable = id(seat)  # none of the groups
    running = False
    while True:
        try:
            if not running:
                seat.start()
                running = True
        except Exception as error:
            if plan.left:  # else the seat was taken away
                done.put(Outcome(-1, number, error=error))
            return
        place = plan.take(group)
        if place is None:
            return
        group = plan.groups[place]
        try:
            outcome = Outcome(place, number, seat.call(work, arguments[place]))
        except Lost as error:
            running = False
            if plan.back(place):
                continue
            why = f"{error}, {plan.attempts} times" if plan.attempts > 1 else str(error)
            outcome = Outcome(place, number, error=Lost(why))
        except Exception as error:
            outcome = Outcome(place, number, error=error)
        plan.finished()
        done.put(outcome)


class _Process:
    """A process of this machine that is sent work, and sends back what came of it, each as a pickle."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def start(self) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from gardenpath.study.engines import serve; serve()"
        if self._stopped:
            raise Lost("the process was ended")
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **self._environment},
        )

    def call(self, work: Work, argument: Any) -> Any:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        message = pickle.dumps((work, argument))
        try:
            process.stdin.write(message)
            process.stdin.flush()
            error, value = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            code = process.wait()
            raise Lost(f"its process died ({_cause(code)})") from None
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        self._stopped = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()  # type: ignore[union-attr]


def _cause(code: int) -> str:
    """Return why a process ended.

    >>> _cause(-9), _cause(3)
    ('signal SIGKILL, as when memory runs out', 'exit code 3')
    """
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in builtins.map(int, signal.Signals) else str(-code)
    return f"signal {name}" + (", as when memory runs out" if name == "SIGKILL" else "")


def serve() -> None:
    """Do what another process asks for by the standard input, until that is closed; what is printed goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks is interrupted, and ends this process
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            work, argument = pickle.load(asked)
        except EOFError:
            return
        except Exception as error:  # a module that is not there, say
            answers.write(_packed(error, None))
            answers.flush()
            continue
        try:
            answer = _packed(None, work(argument))
        except Exception as error:
            answer = _packed(error, None)
        answers.write(answer)
        answers.flush()


def _packed(error: Exception | None, value: Any) -> bytes:
    """Return an answer as a pickle; an error that does not survive that is one with its words."""
    try:
        packed = pickle.dumps((error, value))
        pickle.loads(packed)
    except Exception as fault:
        said = f"{type(error).__name__}: {error}" if error is not None else f"what came of it cannot be sent: {fault}"
        return pickle.dumps((RuntimeError(said), None))
    return packed


class _Actor:
    """An actor of Ray; a new one takes the place of one that died, wherever the cluster has room."""

    def __init__(self, ray: Any, threads: int, cards: float) -> None:
        self._ray, self._threads, self._cards = ray, threads, cards
        self._actor: Any = None
        self._stopped = False

    def start(self) -> None:
        ray = self._ray
        variables = {**_threads(self._threads), **({} if self._cards else {"CUDA_VISIBLE_DEVICES": ""})}
        kind = ray.remote(_Remote).options(
            num_cpus=self._threads, num_gpus=self._cards, max_restarts=0, runtime_env={"env_vars": variables}
        )
        while not self._stopped:
            self._actor = kind.remote(sys.path)
            try:
                ray.get(self._actor.there.remote())  # waits for room
                return
            except ray.exceptions.RayActorError:  # its machine went while it was started
                continue
        raise Lost("the actor was ended")

    def call(self, work: Work, argument: Any) -> Any:
        ray = self._ray
        try:
            packed = ray.get(self._actor.run.remote(pickle.dumps((work, argument))))
        except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as lost:
            first = str(lost).strip().partition("\n")[0]
            raise Lost(f"its actor died ({first})") from None
        error, value = pickle.loads(packed)
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        self._stopped = True
        if self._actor is not None and self._ray.is_initialized():
            self._ray.kill(self._actor)


class _Remote:
    """What runs in an actor's process."""

    def __init__(self, path: list[str]) -> None:
        sys.path += [folder for folder in path if folder not in sys.path]

    def there(self) -> bool:
        return True

    def run(self, packed: bytes) -> bytes:
        try:
            work, argument = pickle.loads(packed)
            return _packed(None, work(argument))
        except Exception as error:
            return _packed(error, None)
