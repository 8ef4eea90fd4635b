"""Every task says what participants do and what is measured, as a methods section has it."""

import re

from gardenpath.analysis.measuring.task_counts import UNKNOWN_PRESENTATION
from gardenpath.analysis.reporting.references import REFERENCES
from gardenpath.experiment.tasks import TASKS
from gardenpath.study.responses import RATING_TASKS
from gardenpath.study.task_methods import TASK_METHODS


def test_every_task_says_what_is_done_in_a_methods_section() -> None:
    kinds = {kind for task in TASKS for kind in task.KINDS}
    assert {*TASK_METHODS} == kinds | {UNKNOWN_PRESENTATION, *RATING_TASKS}
    cited = [name for method in TASK_METHODS.values() for name in re.findall(r"\(([A-Z][^)]*, \d{4})\)", method.done)]
    assert cited
    assert {*cited} <= {*REFERENCES}
