"""One map behind two engines: what comes out does not depend on where it was done, or on who died over it."""

import os
import signal
from pathlib import Path

import pytest

from gardenpath.study import executors


def square(number: int) -> int:
    if number < 0:
        raise ValueError(f"{number}: expected 0 or more")
    return number * number


def environment(name: str) -> str:
    print("what is printed disturbs nobody")  # noqa: T201
    return os.environ[name]


def dies_at_first(marker: str) -> int:
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def dies(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def whose(group: str) -> tuple[str, int]:
    return group, os.getpid()


@pytest.mark.parametrize("engine", [None, executors.LocalExecutor(2)], ids=["here", "local"])
def test_every_argument_has_its_outcome(engine: executors.LocalExecutor | None) -> None:
    found = sorted(executors.map_in_parallel(square, [3, -1, 5], engine), key=lambda outcome: outcome.index)
    assert [outcome.value for outcome in found] == [9, None, 25]
    with pytest.raises(ValueError, match="-1: expected 0 or more"):
        found[1].get_value()


def test_a_process_has_its_threads_and_no_card_that_it_was_not_given() -> None:
    wanted = ["OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"]
    found = {
        wanted[one.index]: one.value
        for one in executors.map_in_parallel(environment, wanted, executors.LocalExecutor(1, threads=3))
    }
    assert found == {"OMP_NUM_THREADS": "3", "CUDA_VISIBLE_DEVICES": ""}


def test_what_a_process_died_over_is_done_by_another_until_it_has_died_too_often(tmp_path: Path) -> None:
    [outcome] = executors.map_in_parallel(dies_at_first, [str(tmp_path / "marker")], executors.LocalExecutor(1))
    assert outcome.get_value() != os.getpid()
    [outcome] = executors.map_in_parallel(dies, [1], executors.LocalExecutor(1), attempts=2)
    with pytest.raises(executors.WorkerDied, match=r"SIGKILL, as when memory runs out.*2 times"):
        outcome.get_value()


def test_a_group_stays_with_whoever_has_it() -> None:
    groups = ["a", "b"] * 8
    found = {outcome.get_value() for outcome in executors.map_in_parallel(whose, groups, executors.LocalExecutor(1), groups=groups)}
    assert len({process for _, process in found}) == 1
    plan = executors._WorkQueue(list("aaabbb"), attempts=1)
    assert [plan.take("a"), plan.take("b"), plan.take("a"), plan.take("a")] == [0, 3, 1, 2]
    assert plan.groups[plan.take("a") or 0] == "b"


def test_a_function_of_a_script_and_cards_that_are_not_there_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(square, "__module__", "__main__")
    with pytest.raises(ValueError, match="is defined in a script"):
        list(executors.map_in_parallel(square, [1], executors.LocalExecutor(1)))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(ValueError, match="this machine has 0"):
        list(executors.map_in_parallel(whose, ["a"], executors.LocalExecutor(gpus=1)))


@pytest.mark.slow
def test_actors_of_ray_do_the_same_and_tell_nobody(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: the extra cluster")
    engine = executors.RayExecutor(workers=2)
    found = sorted(executors.map_in_parallel(square, [3, -1, 5], engine), key=lambda outcome: outcome.index)
    assert [outcome.value for outcome in found] == [9, None, 25]
    assert str(found[1].error) == "-1: expected 0 or more"
    [outcome] = executors.map_in_parallel(dies_at_first, [str(tmp_path / "marker")], engine)
    assert outcome.get_value() != os.getpid()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
