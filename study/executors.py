"""Work that is spread over processes: one `map_in_parallel` behind two engines, processes of this machine and Ray.

>>> import math
>>> [outcome.get_value() for outcome in map_in_parallel(math.factorial, [3, 4, 5])]
[6, 24, 120]

`map_in_parallel(work, arguments, engine, groups=...)` calls a function with each argument and yields an `WorkResult` as each is
finished, in any order: `outcome.place` is the number of its argument. Without an engine everything is done here, one after the
other. With `LocalExecutor(workers=2)` there are two processes, with `RayExecutor(workers=2)` two actors of a cluster; neither
changes what comes out, as long as the function's result follows from its argument alone (a seed is part of the argument). The
function is one of a module, which the processes import; what it needs from call to call it keeps in a variable of its module
(`functools.cache`). Arguments of one group go to one process before it is given another's, so that what it keeps for the group
is made seldom.

A process that dies is started again, and what it was at is given to any; after `attempts` deaths its outcome is `WorkerDied`.
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

MAX_ATTEMPTS = 4  # to do one thing whose process dies
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS")
SHORT_SOCKET_FOLDER = "/tmp"  # where sockets have paths of fewer than 107 characters

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Work = Callable[[Any], Any]


class WorkerDied(RuntimeError):
    """A process died, with all that it was at."""


@dataclass(frozen=True)
class WorkResult(Generic[Result]):
    """What came of one argument: a value, or the error that kept it from being one, and which worker it was."""

    index: int
    worker: int
    value: Result | None = None
    error: Exception | None = None

    def get_value(self) -> Result:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Worker(Protocol):
    """A worker's place: its process can be started again."""

    def start(self) -> None:
        """Start the process, and wait until it is there."""

    def call(self, work: Work, argument: Any) -> Any:
        """Return what the process makes of an argument; raises `WorkerDied` where it dies, and what the work raises."""

    def stop(self) -> None:
        """End the process, at once."""


class Executor(Protocol):
    """Where work is done: how many workers there are, and what each has."""

    def open_workers(self) -> contextlib.AbstractContextManager[Sequence[Worker]]:
        """Give the places of the workers, as long as there is work."""


@dataclass(frozen=True)
class LocalExecutor:
    """Processes of this machine: each has so many threads, and so many of its cards (a half is shared by two; 0: none).

    By default there are as many workers as the cards allow, or one without cards.
    """

    workers: int | None = None
    threads: int = 1
    gpus: float = 0

    @contextlib.contextmanager
    def open_workers(self) -> Iterator[Sequence[Worker]]:
        """Give the processes."""
        gpu_shares = _split_gpus(list_visible_gpus(), self.gpus)
        if self.gpus and not gpu_shares:
            raise ValueError(
                f"{self.gpus:g} cards a worker are asked for, and this machine has {len(list_visible_gpus())}; expected as many, "
                "or another engine"
            )
        gpu_lists = gpu_shares if self.gpus else [""]
        if self.workers is not None:
            gpu_lists = [gpu_lists[number % len(gpu_lists)] for number in range(self.workers)]
        processes = [
            _LocalWorker({**_build_thread_variables(self.threads), "CUDA_VISIBLE_DEVICES": gpu_list}) for gpu_list in gpu_lists
        ]
        try:
            yield processes
        finally:
            for process in processes:
                process.stop()


@dataclass(frozen=True)
class RayExecutor:
    """Actors of Ray (the extra `cluster`): each has so many processors and cards, all on one machine of the cluster.

    Without an `address` a cluster of this machine is started and ended, without a dashboard, and tells nobody of its use.
    """

    workers: int = 1
    threads: int = 1
    gpus: float = 0
    address: str | None = None

    def find_max_gpus(self) -> float:
        """Return the cards of the machine that has the most."""
        with self._connect() as ray:
            return max(float(node["Resources"].get("GPU", 0)) for node in ray.nodes() if node["Alive"])

    @contextlib.contextmanager
    def _connect(self) -> Iterator[Any]:
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
                    base = SHORT_SOCKET_FOLDER if Path(SHORT_SOCKET_FOLDER).is_dir() else None
                    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gp", dir=base, ignore_cleanup_errors=True))
                    ray.init(
                        num_cpus=max(self.workers * self.threads, os.cpu_count() or 1),
                        include_dashboard=False,
                        _temp_dir=folder,
                        **quiet,
                    )
                stack.callback(ray.shutdown)
            yield ray

    @contextlib.contextmanager
    def open_workers(self) -> Iterator[Sequence[Worker]]:
        """Give the actors."""
        with self._connect() as ray:
            node_resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            if not any(r.get("CPU", 0) >= self.threads and r.get("GPU", 0) >= self.gpus for r in node_resources):
                max_gpus = max(r.get("GPU", 0) for r in node_resources)
                raise ValueError(
                    f"{self.gpus:g} cards and {self.threads} processors a worker are asked for, and no machine of the cluster has "
                    f"as many: one has {max_gpus:g} cards at most"
                )
            actors = [_RayWorker(ray, self.threads, self.gpus) for _ in range(self.workers)]
            try:
                yield actors
            finally:
                for actor in actors:
                    actor.stop()


def map_in_parallel(
    work: Callable[[Argument], Result],
    arguments: Iterable[Argument],
    executor: Executor | None = None,
    *,
    groups: Sequence[Hashable] | None = None,
    attempts: int = MAX_ATTEMPTS,
) -> Iterator[WorkResult[Result]]:
    """Yield what a function makes of each argument, as it is finished; see the module.

    `groups` has the group of each argument. What the function raises is in the outcome. Whoever stops to iterate ends the
    processes. Raises `ValueError` for a function that other processes cannot import, and where the engine has no such workers.
    """
    arguments = list(arguments)
    if executor is None:
        yield from (_run_locally(work, index, argument) for index, argument in enumerate(arguments))
        return
    if getattr(getattr(work, "func", work), "__module__", None) == "__main__":
        raise ValueError(f"{work!r} is defined in a script; expected a function of a module, which processes can import")
    work_queue = _WorkQueue(list(groups) if groups is not None else [None] * len(arguments), attempts)
    results: queue.SimpleQueue[WorkResult[Result]] = queue.SimpleQueue()
    with executor.open_workers() as opened_workers:
        for number, worker in enumerate(opened_workers[: len(arguments)]):
            threading.Thread(target=_serve_worker, args=(number, worker, work, arguments, work_queue, results), daemon=True).start()
        try:
            for _ in arguments:
                outcome = results.get()
                if outcome.index < 0:
                    outcome.get_value()
                yield outcome
        finally:
            work_queue.close()


def list_visible_gpus() -> list[str]:
    """Return the numbers of NVIDIA's cards that this process may use, as CUDA_VISIBLE_DEVICES or the driver says."""
    stated = os.environ.get("CUDA_VISIBLE_DEVICES")
    if stated is not None:
        return [card for card in stated.split(",") if card.strip() not in ("", "-1")]
    return [str(number) for number, _ in enumerate(Path("/proc/driver/nvidia/gpus").glob("*"))]


def _split_gpus(gpus: Sequence[str], gpus_per_worker: float) -> list[str]:
    """Return the cards of each worker.

    >>> _split_gpus(["0", "1"], 0.5), _split_gpus(["0", "1", "2"], 2)
    (['0', '0', '1', '1'], ['0,1'])
    """
    if gpus_per_worker < 1:
        return [card for card in gpus for _ in range(int(1 / gpus_per_worker))] if gpus_per_worker else []
    step = int(gpus_per_worker)
    return [",".join(gpus[start : start + step]) for start in range(0, len(gpus) - step + 1, step)]


def _build_thread_variables(number: int) -> dict[str, str]:
    return {**dict.fromkeys(THREAD_VARIABLES, str(number)), "TOKENIZERS_PARALLELISM": "false"}


def _run_locally(work: Callable[[Argument], Result], index: int, argument: Argument) -> WorkResult[Result]:
    try:
        return WorkResult(index, 0, work(argument))
    except Exception as error:
        return WorkResult(index, 0, error=error)


@dataclass
class _WorkQueue:
    """What is still to do, by group, and how often a process died over it."""

    groups: list[Hashable]
    attempts: int
    waiting: dict[Hashable, deque[int]] = field(default_factory=dict)
    worker_counts: Counter[Hashable] = field(default_factory=Counter)
    death_counts: Counter[int] = field(default_factory=Counter)
    remaining_count: int = 0
    condition: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        for index, group in enumerate(self.groups):
            self.waiting.setdefault(group, deque()).append(index)
        self.remaining_count = len(self.groups)

    def take(self, group: Hashable) -> int | None:
        """Return what comes next for who was at a group: of the same, else of the one with the most to do for each worker.

        None when all is done; as long as others are at something that may come back, this waits.
        """
        with self.condition:
            while self.remaining_count and not any(self.waiting.values()):
                self.condition.wait()
            if not self.remaining_count:
                return None
            if not self.waiting.get(group):
                self.worker_counts[group] -= 1
                group = max(self.waiting, key=lambda one: len(self.waiting[one]) / (1 + max(0, self.worker_counts[one])))
                self.worker_counts[group] += 1
            return self.waiting[group].popleft()

    def requeue(self, index: int) -> bool:
        """Give back what a process died over; return whether it is tried again."""
        with self.condition:
            self.death_counts[index] += 1
            again = self.death_counts[index] < self.attempts
            if again:
                self.waiting[self.groups[index]].appendleft(index)
                self.condition.notify_all()
            return again

    def mark_finished(self) -> None:
        """Count one as done."""
        with self.condition:
            self.remaining_count -= 1
            self.condition.notify_all()

    def close(self) -> None:
        """Let nobody take anything any more."""
        with self.condition:
            self.remaining_count = 0
            self.condition.notify_all()


def _serve_worker(
    number: int,
    worker: Worker,
    work: Work,
    arguments: Sequence[Any],
    work_queue: _WorkQueue,
    results: "queue.SimpleQueue[WorkResult[Any]]",
) -> None:
    """Do what is to be done at one seat until nothing is left."""
    group: Hashable = id(worker)  # none of the groups
    running = False
    while True:
        try:
            if not running:
                worker.start()
                running = True
        except Exception as error:
            if work_queue.remaining_count:  # else the seat was taken away
                results.put(WorkResult(-1, number, error=error))
            return
        index = work_queue.take(group)
        if index is None:
            return
        group = work_queue.groups[index]
        try:
            outcome = WorkResult(index, number, worker.call(work, arguments[index]))
        except WorkerDied as error:
            running = False
            if work_queue.requeue(index):
                continue
            why = f"{error}, {work_queue.attempts} times" if work_queue.attempts > 1 else str(error)
            outcome = WorkResult(index, number, error=WorkerDied(why))
        except Exception as error:
            outcome = WorkResult(index, number, error=error)
        work_queue.mark_finished()
        results.put(outcome)


class _LocalWorker:
    """A process of this machine that is sent work, and sends back what came of it, each as a pickle."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def start(self) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from gardenpath.study.executors import serve_work; serve_work()"
        if self._stopped:
            raise WorkerDied("the process was ended")
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **self._environment}
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
            raise WorkerDied(f"its process died ({_describe_exit(code)})") from None
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


def _describe_exit(code: int) -> str:
    """Return why a process ended.

    >>> _describe_exit(-9), _describe_exit(3)
    ('signal SIGKILL, as when memory runs out', 'exit code 3')
    """
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in builtins.map(int, signal.Signals) else str(-code)
    return f"signal {name}" + (", as when memory runs out" if name == "SIGKILL" else "")


def serve_work() -> None:
    """Do what another process asks for by the standard input, until that is closed; what is printed goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks is interrupted, and ends this process
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            work, argument = pickle.load(requests)
        except EOFError:
            return
        except Exception as error:  # a module that is not there, say
            replies.write(_pack_result(error, None))
            replies.flush()
            continue
        try:
            reply = _pack_result(None, work(argument))
        except Exception as error:
            reply = _pack_result(error, None)
        replies.write(reply)
        replies.flush()


def _pack_result(error: Exception | None, value: Any) -> bytes:
    """Return an answer as a pickle; an error that does not survive that is one with its words."""
    try:
        packed = pickle.dumps((error, value))
        pickle.loads(packed)
    except Exception as fault:
        message = f"{type(error).__name__}: {error}" if error is not None else f"what came of it cannot be sent: {fault}"
        return pickle.dumps((RuntimeError(message), None))
    return packed


class _RayWorker:
    """An actor of Ray; a new one takes the place of one that died, wherever the cluster has room."""

    def __init__(self, ray: Any, threads: int, gpus: float) -> None:
        self._ray, self._threads, self._gpus = ray, threads, gpus
        self._actor: Any = None
        self._stopped = False

    def start(self) -> None:
        ray = self._ray
        variables = {**_build_thread_variables(self._threads), **({} if self._gpus else {"CUDA_VISIBLE_DEVICES": ""})}
        kind = ray.remote(_RemoteProcess).options(
            num_cpus=self._threads, num_gpus=self._gpus, max_restarts=0, runtime_env={"env_vars": variables}
        )
        while not self._stopped:
            self._actor = kind.remote(sys.path)
            try:
                ray.get(self._actor.there.remote())  # waits for room
                return
            except ray.exceptions.RayActorError:  # its machine went while it was started
                continue
        raise WorkerDied("the actor was ended")

    def call(self, work: Work, argument: Any) -> Any:
        ray = self._ray
        try:
            packed = ray.get(self._actor.run.remote(pickle.dumps((work, argument))))
        except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as lost:
            first = str(lost).strip().partition("\n")[0]
            raise WorkerDied(f"its actor died ({first})") from None
        error, value = pickle.loads(packed)
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        self._stopped = True
        if self._actor is not None and self._ray.is_initialized():
            self._ray.kill(self._actor)


class _RemoteProcess:
    """What runs in an actor's process."""

    def __init__(self, path: list[str]) -> None:
        sys.path += [folder for folder in path if folder not in sys.path]

    def is_ready(self) -> bool:
        return True

    def run(self, packed: bytes) -> bytes:
        try:
            work, argument = pickle.loads(packed)
            return _pack_result(None, work(argument))
        except Exception as error:
            return _pack_result(error, None)
