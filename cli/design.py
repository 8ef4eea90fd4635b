"""gardenpath design: deal the materials of a study to counterbalanced versions."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.stimuli import Trial, Version
    from gardenpath.study import Study

STANDARD_MINUTES = 15.0  # of the standard consent texts
METHODS = {
    "fixed": "from nothing: trials stand as in the files of materials, those of attention first",
    "exact": "exactly: each valid order is equally likely",
    "rejection": "exactly, by rejection: each valid order is equally likely",
    "approximate": "approximately, by exchanges: there are too many to count, and valid ones are too rare to be met by chance",
}
MINUTES = re.compile(
    r"(?:(\d+)\s*(?:-|–|to|bis|tot|ile|或|至|〜|～|إلى|עד)\s*)?(\d+)\s*(?:min|dk|dakika|分|دقيق|דק)", re.IGNORECASE
)


FEW, ONE_SIDED = 8, 0.75  # questions of a version, of which one answer may be right to so many


@click.command("design")
@options.study_file
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the versions [default: versions/ beside STUDY.toml].",
)
@click.option(
    "--participants",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="For the readers of each sentence; of small lists each has one.",
)
@options.force
@click.option(
    "--skip-bad",
    is_flag=True,
    help="Leave out what cannot be read of the materials, and name it; materials.skip_bad does so in every command.",
)
@click.option("--despite-errors", is_flag=True, help="Deal materials in which check finds errors.")
def command(
    study_file: Path, out: Path | None, participants: int, force: bool, skip_bad: bool, despite_errors: bool
) -> None:
    """Deal the materials of STUDY.toml to counterbalanced versions, one JSON file each.

    Beside them stand the tables design_balance (trials of each paradigm and condition in each version), exposures
    (versions and readers of each sentence), matching (versions, conditions within each, fillers and targets in length
    and frequency, drawn in figures/matching), design_lists where there are small lists and, where questions are asked,
    design_questions, which is also printed where a right answer depends on the condition.
    """
    from gardenpath import experiment, stimuli, study
    from gardenpath.analysis.reporting.figures import figure_style, matching_figures
    from gardenpath.analysis.reporting.wording import matching as wording
    from gardenpath.experiment import factor_effects, line_breaks
    from gardenpath.experiment.script import untranslated
    from gardenpath.stimuli.norms import said_of

    plan = study.load(study_file)
    if skip_bad:
        plan = replace(plan, materials=replace(plan.materials, skip_bad=True))
    files = experiment.version_files(plan)
    if not despite_errors:
        _refuse_errors(plan)
    paradigms = {paradigm.id: paradigm for file in files for paradigm in file.paradigms}
    factor_effects.by_condition(plan.simulate, paradigms.values(), [t for file in files for t in file.version.trials])
    if promised := _promised_otherwise(plan):
        options.talk(promised)
    if english := untranslated(plan):
        named = ", ".join(english[:6]) + (f" and {len(english) - 6} more" if len(english) > 6 else "")
        options.talk(
            f"{plan.folder / plan.procedure.texts}: {options.count(len(english), 'text')} still in English: {named}"
        )
    tables_of_words = [plan.folder / section.file for section in plan.materials.norms.values()]
    inputs = [
        study_file,
        *plan.paths(),
        *tables_of_words,
        *filter(None, [plan.mapping_path()]),
        *([plan.folder / plan.procedure.texts] if plan.procedure.texts else []),
    ]
    folder = out or plan.folder / "versions"
    dealt = [file.version for file in files]
    names = {
        screen.name
        for file in files
        for step in file.script.trials
        for screen in step.screens
        if screen.task == "question"
    }
    questions = stimuli.questions_of(dealt, names)
    lists = stimuli.lists_of(dealt)
    readers = len(lists.groupby(["experiment", "list"])) or participants
    tables = {"design_balance": stimuli.balance_of(dealt), "exposures": stimuli.exposures(dealt, readers)}
    if len(lists):
        tables["design_lists"] = lists
    if len(questions):
        tables["design_questions"] = questions
    norms = stimuli.read_norms(plan.materials.norms, plan.folder)
    matching = stimuli.versions_matching(dealt, norms)
    if len(matching):
        tables["matching"] = matching
    study.files.refuse_overwrite(
        [folder / name for name in [*(f"{f.name}.json" for f in files), *map("{}.csv".format, tables)]], force
    )
    apart = plan.design.lists.apart if plan.design.lists else ""
    for file in files:
        path = file.write(folder)
        study.files.write_sidecar(path, command=options.typed(), inputs=inputs, seed=plan.seed)
        click.echo(f"{path}: {_lists(file.version, apart) if file.version.lists else _summary(file.version, names)}")
    for name, table in tables.items():
        study.write(table, name, folder, command=options.typed(), inputs=inputs, seed=plan.seed)
    if len(matching) and matching["d"].notna().any():
        figure_style.save(matching_figures.matching_figure(matching), "matching", folder / "figures")
    if len(questions) and any(_depends(trial, names) for version in dealt for trial in version.trials):
        click.echo(f"right answers depend on the condition:\n{_answers(questions)}")
    absent = stimuli.words_not_found(stimuli.read_study(plan), [f"{name}:sentence" for name in norms], norms)
    for sentence in (*wording.designed(matching), *said_of(absent, norms)):
        options.talk(sentence)
    for fault in filter(None, (_too_few_questions(plan, questions), _one_sided(questions))):
        options.talk(fault)
    width = plan.procedure.line_width
    if broken := line_breaks.unevenly_broken(files, width):
        named = ", ".join(broken[:6]) + (f" and {len(broken) - 6} more" if len(broken) > 6 else "")
        options.talk(
            f"{options.count(len(broken), 'item')} of more than {width} letters a line are broken before different words in their "
            f"conditions: {named}; expected sentences on one line (procedure.display.width, min_size, device.min_width)"
        )
    exposures = tables["exposures"]
    dealt_ones = exposures[~exposures["paradigm"].isin(["practice", "attention"])]
    for condition, counts in () if len(lists) else dealt_ones.groupby("condition")["readers"]:
        options.talk(f"at {participants} participants, a sentence in condition {condition} has {_span(counts)} readers")
    if plan.design.unequal_experiments:
        options.talk(f"paradigms: {_sizes(dealt)}")
    for uneven in _uneven_fillers(dealt, plan.design.filler_ratio):
        options.talk(uneven)
    for how in (*_in_turn(dealt[0]), *_drawn(dealt)):
        options.talk(how)
    options.talk(
        f"{len(files)} versions; each session's order is drawn from seed {plan.seed}, its version and its place"
    )


def _uneven_fillers(versions: "list[Version]", ratio: Mapping[str, int]) -> Iterator[str]:
    """Yield which fillers are not shown in each condition by its share, since versions do not go round their conditions."""
    shown = [(v, t) for v in versions for t in v.trials if t.role == "filler"]
    number = Counter((v.experiment, *v.levels.values()) for v in versions)
    each = min(number.values())
    for paradigm in sorted({t.item.paradigm for _, t in shown}):
        conditions = {t.condition for _, t in shown if t.item.paradigm == paradigm}
        if each % (total := sum(ratio.values()) or len(conditions)):
            times = Counter((v.experiment, t.item.id, t.condition) for v, t in shown if t.item.paradigm == paradigm)
            yield (
                f"fillers {paradigm} are unevenly exposed: an item is shown {_span(times.values())} times in a condition, over "
                f"{options.count(each, 'version')} of {options.count(total, 'condition')} or shares; "
                f"take a multiple of {total} versions"
            )


def _in_turn(version: "Version") -> Iterator[str]:
    """Yield the orders that sessions of a version have in turn."""
    from gardenpath.stimuli.block_orders import BlockedOrders

    rules = version.ordering
    if rules.order == "reversed":
        yield "sessions of a version have the order as it stands and backwards in turn: an even number of readers a version"
    if isinstance(version.orders, BlockedOrders):
        sequences = version.orders.sequences
        some = "; ".join(" - ".join(one) for one in sequences[:6]) + ("; ..." if len(sequences) > 6 else "")
        yield (
            f"blocks of {rules.together} stand in {options.count(len(sequences), 'order')} ({rules.block_order}), which the "
            f"sessions of each version have in turn: {some}; a multiple of {len(sequences)} readers a version has each alike"
        )


def _drawn(versions: "list[Version]") -> Iterator[str]:
    """Yield how the orders of versions are drawn, and the time that one takes."""
    took: dict[str, list[float]] = {}
    of: dict[str, list[str]] = {}
    for version in versions:
        method = version.drawn(0).method  # what is counted is counted here, once
        start = time.process_time()
        version.drawn(1)
        took.setdefault(method, []).append(1000 * (time.process_time() - start))
        of.setdefault(method, []).append(f"{version.experiment}-{version.id}")
    blocked = "in each block, " if versions[0].ordering.together else ""
    for method, times in took.items():
        some = "" if len(took) == 1 else f" of {', '.join(of[method][:4])}{' ...' if len(of[method]) > 4 else ''}"
        yield f"orders{some} are drawn {blocked}{METHODS[method]}; one takes {max(times):.0f} ms or less"


def _span(counts: Iterable[int]) -> str:
    """Return the least and the greatest of some numbers, or the one that they all are."""
    numbers = {*counts}
    return " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))


def _lists(version: "Version", apart: str) -> str:
    """Return what the lists of a version come to, counted in them."""
    lists = [[trial for trial in part if trial.role == "target"] for part in version.parts()]
    times = Counter((trial.item.id, trial.condition) for some in lists for trial in some)
    conditions = sorted({condition for _, condition in times})
    by_item = {item: [times[item, condition] for condition in conditions] for item, _ in times}
    names = [[trial.item.paradigm if apart == "paradigm" else trial.item.id for trial in some] for some in lists]
    twice = sum(len({*some}) < len(some) for some in names)
    beside = Counter(trial.role for part in version.parts() for trial in part)
    parts = [
        f"{len(lists)} lists of {_span(map(len, lists))}, {times.total()} judgments",
        f"{options.count(len(by_item), 'item')} with {_span(map(sum, by_item.values()))} readers each",
        *(
            f"{_span(counts)} of them {condition}"
            for condition, counts in zip(conditions, zip(*by_item.values(), strict=True), strict=True)
        ),
        f"{options.count(twice, 'list')} with {'a paradigm' if apart == 'paradigm' else 'an item'} twice",
        *(f"{beside[role]} trials of {role}" for role in ("catch", "attention") if beside[role]),
    ]
    return "; ".join(parts)


def _sizes(versions: "list[Version]") -> str:
    """Return how many experiments have how many paradigms."""
    shown = {
        version.experiment: len({trial.item.paradigm for trial in version.trials if trial.role == "target"})
        for version in versions
    }
    sizes = sorted(Counter(shown.values()).items(), reverse=True)
    return ", ".join(f"{options.count(number, 'experiment')} of {size}" for size, number in sizes)


def _refuse_errors(plan: "Study") -> None:
    """Raise `DataError` with what `check` finds wrong in the materials."""
    from gardenpath import stimuli, study

    materials, _ = stimuli.examine(*plan.paths(), language=plan.language, mapping=plan.mapping_path())
    errors = stimuli.check(materials, only="error")
    if errors:
        more = [f"... and {options.count(len(errors) - 10, 'more error')}"] if len(errors) > 10 else []
        advice = "the materials have errors: correct them, waive them with a reason, or give --despite-errors to deal them anyway"
        raise study.DataError([*map(str, errors[:10]), *more, f"{plan.path}: {advice}"])


def _promised_otherwise(plan: "Study") -> str | None:
    """Return that the consent text promises other minutes than are paid for, where it names any."""
    minutes = plan.online.reward.minutes if plan.online and plan.online.reward else None
    own = plan.procedure.consent
    named = MINUTES.search(own) if own is not None else None
    said = {float(n) for n in named.groups() if n} if named else set() if own is not None else {STANDARD_MINUTES}
    if minutes is None or not said or min(said) <= minutes <= max(said):
        return None
    which = "the standard consent text" if own is None else "procedure.consent"
    told = " to ".join(f"{n:g}" for n in sorted(said))
    return (
        f"{plan.path}: {which} says that the study takes {told} minutes, online.reward.minutes is {minutes:g}; "
        f"{'state a procedure.consent of your own' if own is None else 'make them agree'}"
    )


def _too_few_questions(plan: "Study", questions: "pd.DataFrame") -> str | None:
    """Return that the rule of [analysis.exclude] about accuracy can exclude nobody, where versions ask fewer questions."""
    rules = plan.analysis.exclude
    counts = questions.groupby(["experiment", "version"])["questions"].sum()
    if not rules.accuracy or counts.empty or counts.min() >= rules.questions:
        return None
    asked = " to ".join(str(n) for n in sorted({counts.min(), counts.max()}))
    return (
        f"{plan.path}: analysis.exclude.questions is {rules.questions}, but a version asks {asked}: nobody can be excluded by "
        f"accuracy; state  [analysis.exclude] questions = {counts.min()}  or fewer"
    )


def _one_sided(questions: "pd.DataFrame") -> str | None:
    """Return that somebody who always gives the same answer is right too often, in the version where that is most so."""
    of_version = questions.groupby(["experiment", "version"])["questions"]
    totals = of_version.sum().loc[lambda n: n >= FEW]
    answers = questions.groupby(["experiment", "version", "answer"])["questions"].sum()
    shares = (answers / totals.reindex(answers.droplevel("answer").index).to_numpy()).dropna()
    if shares.empty or shares.max() <= ONE_SIDED:
        return None
    place = experiment, version, answer = shares.idxmax()
    return (
        f"{experiment}-{version}: the right answer to {answers[place]} of {totals[experiment, version]} questions is {answer!r}, "
        "and who always gives it seems to read well; expected about as many of each answer"
    )


def _depends(trial: "Trial", names: set[str]) -> bool:
    """Whether a trial is asked a question whose right answer is another one in another condition."""
    question = trial.item.question if names & {*trial.prompts} else None
    return question is not None and len({*question.answers.values()}) > 1


def _answers(questions: "pd.DataFrame") -> str:
    """Return how often each answer is right in each version, by paradigm and condition."""
    index = ["experiment", "version", "paradigm", "condition"]
    table = questions.pivot_table("questions", index, "answer", aggfunc="sum", fill_value=0).reset_index()
    return options.aligned([[*table.columns], *table.astype(str).to_numpy().tolist()])


def _summary(version: "Version", names: set[str]) -> str:
    """Return a version's trials by condition, what a paradigm shows of each, and its questions, in words."""
    trials = [trial for trial in version.trials if trial.role != "practice"]
    shown = Counter(trial.condition for trial in trials)
    each = Counter((trial.item.paradigm, trial.condition) for trial in trials if trial.role == "target")
    per_paradigm = {tuple(each[p, c] for c in sorted(shown) if each[p, c]) for p, _ in each}
    asked = Counter(str(trial.answer()) for trial in trials for name in trial.prompts if name in names)
    parts = [f"{len(trials)} trials, " + ", ".join(f"{n} {name}" for name, n in sorted(shown.items()))]
    parts.append("a paradigm " + " or ".join(":".join(map(str, counts)) for counts in sorted(per_paradigm)))
    if asked:
        answers = ", ".join(f"{n} {answer}" for answer, n in sorted(asked.items()))
        parts.append(f"{asked.total()} questions ({answers})")
    return "; ".join([*parts, *(f"{factor}: {level}" for factor, level in version.levels.items())])
