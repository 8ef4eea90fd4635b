"""gardenpath design: deal the materials of a study to counterbalanced lists."""

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

    from gardenpath.stimuli import Trial, TrialList
    from gardenpath.study import Study

STANDARD_MINUTES = 15.0  # of the standard consent texts
ORDERING_METHODS = {
    "fixed": "from nothing: trials stand as in the files of materials, those of attention first",
    "exact": "exactly: each valid order is equally likely",
    "rejection": "exactly, by rejection: each valid order is equally likely",
    "approximate": "approximately, by exchanges: there are too many to count, and valid ones are too rare to be met by chance",
}
MINUTES_PATTERN = re.compile(
    r"(?:(\d+)\s*(?:-|–|to|bis|tot|ile|或|至|〜|～|إلى|עד)\s*)?(\d+)\s*(?:min|dk|dakika|分|دقيق|דק)", re.IGNORECASE
)


MIN_QUESTIONS, MAX_ANSWER_SHARE = 8, 0.75  # questions of a list, of which one answer may be right to so many


@click.command("design")
@options.study_file
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder for the lists [default: lists/ beside STUDY.toml].")
@click.option(
    "--participants",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="For the participants of each sentence; of short lists each has one.",
)
@options.force
@click.option(
    "--skip-bad",
    is_flag=True,
    help="Leave out what cannot be read of the materials, and name it; materials.skip_bad does so in every command.",
)
@click.option("--ignore-errors", is_flag=True, help="Make lists of materials in which check finds errors.")
def command(study_file: Path, out: Path | None, participants: int, force: bool, skip_bad: bool, ignore_errors: bool) -> None:
    """Deal the materials of STUDY.toml to counterbalanced lists, one JSON file each.

    Beside them stand the tables design_balance (trials of each paradigm and condition in each list), exposures
    (lists and readers of each sentence), matching (lists, conditions within each, fillers and targets in length
    and frequency, drawn in figures/matching), design_short_lists where there are short lists and, where questions are asked,
    design_questions, which is also printed where a right answer depends on the condition.
    """
    from gardenpath import experiment, stimuli, study
    from gardenpath.analysis.reporting.figures import figure_style, matching_figures
    from gardenpath.analysis.reporting.wording import matching as wording
    from gardenpath.experiment.scripts.list_files import find_unevenly_broken_items
    from gardenpath.experiment.scripts.script import list_untranslated_texts
    from gardenpath.experiment.simulation import factor_effects
    from gardenpath.stimuli.norms import describe_words_not_found

    from .plan import resolve_design_plan

    config = study.load(study_file)
    if skip_bad:
        config = replace(config, materials=replace(config.materials, skip_bad=True))
    files = experiment.build_list_files(config)
    if config.hypotheses:
        resolve_design_plan(config)  # which refuses a hypothesis about no effect, before anybody takes part
    if not ignore_errors:
        _refuse_errors(config)
    paradigms = {paradigm.id: paradigm for file in files for paradigm in file.paradigms}
    factor_effects.require_known_effects(
        config.simulate,
        paradigms.values(),
        [trial for file in files for trial in file.trial_list.trials],
        config.analysis.participant_measures,
    )
    if minutes_warning := _compare_promised_minutes(config):
        options.print_notice(minutes_warning)
    if untranslated_texts := list_untranslated_texts(config):
        named = ", ".join(untranslated_texts[:6]) + (
            f" and {len(untranslated_texts) - 6} more" if len(untranslated_texts) > 6 else ""
        )
        options.print_notice(
            f"{config.folder / config.procedure.texts}: {options.format_count(len(untranslated_texts), 'text')} "
            f"still in English: {named}"
        )
    word_tables = [config.folder / section.file for section in config.materials.norms.values()]
    inputs = [
        study_file,
        *config.list_material_paths(),
        *word_tables,
        *filter(None, [config.resolve_mapping_path()]),
        *([config.folder / config.procedure.texts] if config.procedure.texts else []),
    ]
    folder = out or config.folder / "lists"
    trial_lists = [file.trial_list for file in files]
    names = {screen.name for file in files for step in file.script.trials for screen in step.screens if screen.task == "question"}
    questions = stimuli.compute_design_questions(trial_lists, names)
    short_lists = stimuli.build_short_lists_table(trial_lists)
    participant_count = len(short_lists.groupby(["experiment", "short_list"])) or participants
    tables = {
        "design_balance": stimuli.compute_design_balance(trial_lists),
        "exposures": stimuli.compute_exposures(trial_lists, participant_count),
    }
    if len(short_lists):
        tables["design_short_lists"] = short_lists
    if len(questions):
        tables["design_questions"] = questions
    norms = stimuli.read_norms(config.materials.norms, config.folder)
    matching = stimuli.compute_design_matching(trial_lists, norms)
    if len(matching):
        tables["matching"] = matching
    study.files.refuse_overwrite(
        [folder / name for name in [*(f"{f.name}.json" for f in files), *map("{}.csv".format, tables)]], force
    )
    separation = config.design.short_lists.one_per if config.design.short_lists else ""
    for file in files:
        path = file.write(folder)
        study.files.write_sidecar(path, command=options.format_command_line(), inputs=inputs, seed=config.seed)
        short = file.trial_list.short_lists
        summary = _summarise_short_lists(file.trial_list, separation) if short else _summarise_list(file.trial_list, names)
        click.echo(f"{path}: {summary}")
    for name, table in tables.items():
        study.write(table, name, folder, command=options.format_command_line(), inputs=inputs, seed=config.seed)
    if len(matching) and matching["standardised_difference"].notna().any():
        figure_style.save(matching_figures.matching_figure(matching), "matching", folder / "figures")
    if len(questions) and any(
        _has_condition_dependent_answer(trial, names) for trial_list in trial_lists for trial in trial_list.trials
    ):
        click.echo(f"right answers depend on the condition:\n{_format_answer_counts(questions)}")
    missing_words = stimuli.compute_words_not_found(stimuli.read_study(config), [f"{name}:sentence" for name in norms], norms)
    for sentence in (*wording.designed(matching), *describe_words_not_found(missing_words, norms)):
        options.print_notice(sentence)
    for fault in filter(None, (_check_question_count(config, questions), _check_answer_balance(questions))):
        options.print_notice(fault)
    width = config.procedure.line_width
    if broken_items := find_unevenly_broken_items(files, width):
        named = ", ".join(broken_items[:6]) + (f" and {len(broken_items) - 6} more" if len(broken_items) > 6 else "")
        options.print_notice(
            f"{options.format_count(len(broken_items), 'item')} of more than {width} letters a line are broken "
            "before different words in their "
            f"conditions: {named}; expected sentences on one line (procedure.display.line_width, min_size, device.min_width)"
        )
    exposures = tables["exposures"]
    study_exposures = exposures[~exposures["paradigm"].isin(["practice", "attention"])]
    for condition, counts in () if len(short_lists) else study_exposures.groupby("condition")["n_participants"]:
        options.print_notice(
            f"at {participants} participants, a sentence in condition {condition} has {_format_range(counts)} participants"
        )
    if config.design.allow_unequal_experiments:
        options.print_notice(f"paradigms: {_format_experiment_sizes(trial_lists)}")
    for filler_warning in _describe_uneven_fillers(trial_lists, config.design.filler_ratio):
        options.print_notice(filler_warning)
    for order_text in (*_describe_alternating_orders(trial_lists[0]), *_describe_order_sampling(trial_lists)):
        options.print_notice(order_text)
    options.print_notice(f"{len(files)} lists; each session's order is drawn from seed {config.seed}, its list and its slot")


def _describe_uneven_fillers(trial_lists: "list[TrialList]", ratio: Mapping[str, int]) -> Iterator[str]:
    """Yield which fillers are not shown in each condition by its share, since lists do not go round their conditions."""
    filler_trials = [(v, t) for v in trial_lists for t in v.trials if t.role == "filler"]
    list_counts = Counter((v.experiment, *v.levels.values()) for v in trial_lists)
    fewest_lists = min(list_counts.values())
    for paradigm in sorted({t.item.paradigm for _, t in filler_trials}):
        conditions = {t.condition for _, t in filler_trials if t.item.paradigm == paradigm}
        if fewest_lists % (total := sum(ratio.values()) or len(conditions)):
            times = Counter((v.experiment, t.item.id, t.condition) for v, t in filler_trials if t.item.paradigm == paradigm)
            yield (
                f"fillers {paradigm} are unevenly exposed: an item is shown {_format_range(times.values())} times in "
                "a condition, over "
                f"{options.format_count(fewest_lists, 'list')} of {options.format_count(total, 'condition')} or shares; "
                f"take a multiple of {total} lists"
            )


def _describe_alternating_orders(trial_list: "TrialList") -> Iterator[str]:
    """Yield the orders that sessions of a list have in turn."""
    from gardenpath.stimuli.block_orders import BlockedOrders

    rules = trial_list.ordering
    if rules.order == "reversed":
        yield "sessions of a list have the order as it stands and backwards in turn: an even number of participants a list"
    if isinstance(trial_list.orders, BlockedOrders):
        sequences = trial_list.orders.sequences
        some = "; ".join(" - ".join(one) for one in sequences[:6]) + ("; ..." if len(sequences) > 6 else "")
        yield (
            f"blocks of {rules.block_by} stand in {options.format_count(len(sequences), 'order')} ({rules.block_order}), which the "
            f"sessions of each list have in turn: {some}; a multiple of {len(sequences)} participants a list has each equally often"
        )


def _describe_order_sampling(trial_lists: "list[TrialList]") -> Iterator[str]:
    """Yield how the orders of lists are drawn, and the time that one takes."""
    durations: dict[str, list[float]] = {}
    list_names: dict[str, list[str]] = {}
    for trial_list in trial_lists:
        method = trial_list.draw_order(0).method  # what is counted is counted here, once
        start = time.process_time()
        trial_list.draw_order(1)
        durations.setdefault(method, []).append(1000 * (time.process_time() - start))
        list_names.setdefault(method, []).append(f"{trial_list.experiment}-{trial_list.id}")
    block_text = "in each block, " if trial_lists[0].ordering.block_by else ""
    for method, times in durations.items():
        list_text = (
            "" if len(durations) == 1 else f" of {', '.join(list_names[method][:4])}{' ...' if len(list_names[method]) > 4 else ''}"
        )
        yield f"orders{list_text} are drawn {block_text}{ORDERING_METHODS[method]}; one takes {max(times):.0f} ms or less"


def _format_range(counts: Iterable[int]) -> str:
    """Return the least and the greatest of some numbers, or the one that they all are."""
    numbers = {*counts}
    return " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))


def _summarise_short_lists(trial_list: "TrialList", separation: str) -> str:
    """Return what the short lists come to, counted in them."""
    short_lists = [[trial for trial in part if trial.role == "target"] for part in trial_list.list_participant_trials()]
    times = Counter((trial.item.id, trial.condition) for short_list in short_lists for trial in short_list)
    conditions = sorted({condition for _, condition in times})
    by_item = {item: [times[item, condition] for condition in conditions] for item, _ in times}
    names = [
        [trial.item.paradigm if separation == "paradigm" else trial.item.id for trial in short_list] for short_list in short_lists
    ]
    twice = sum(len({*short_list}) < len(short_list) for short_list in names)
    role_counts = Counter(trial.role for part in trial_list.list_participant_trials() for trial in part)
    parts = [
        f"{len(short_lists)} short lists of {_format_range(map(len, short_lists))}, {times.total()} judgments",
        f"{options.format_count(len(by_item), 'item')} with {_format_range(map(sum, by_item.values()))} participants each",
        *(
            f"{_format_range(counts)} of them {condition}"
            for condition, counts in zip(conditions, zip(*by_item.values(), strict=True), strict=True)
        ),
        f"{options.format_count(twice, 'short list')} with {'a paradigm' if separation == 'paradigm' else 'an item'} twice",
        *(f"{role_counts[role]} trials of {role}" for role in ("catch", "attention") if role_counts[role]),
    ]
    return "; ".join(parts)


def _format_experiment_sizes(trial_lists: "list[TrialList]") -> str:
    """Return how many experiments have how many paradigms."""
    paradigm_counts = {
        trial_list.experiment: len({trial.item.paradigm for trial in trial_list.trials if trial.role == "target"})
        for trial_list in trial_lists
    }
    sizes = sorted(Counter(paradigm_counts.values()).items(), reverse=True)
    return ", ".join(f"{options.format_count(number, 'experiment')} of {size}" for size, number in sizes)


def _refuse_errors(config: "Study") -> None:
    """Raise `DataError` with what `check` finds wrong in the materials."""
    from gardenpath import stimuli, study

    materials, _ = stimuli.examine(*config.list_material_paths(), language=config.language, mapping=config.resolve_mapping_path())
    errors = stimuli.check(materials, only_severity="error")
    if errors:
        more = [f"... and {options.format_count(len(errors) - 10, 'more error')}"] if len(errors) > 10 else []
        advice = "the materials have errors: correct them, waive them with a reason, or give --ignore-errors"
        raise study.DataError([*map(str, errors[:10]), *more, f"{config.path}: {advice}"])


def _compare_promised_minutes(config: "Study") -> str | None:
    """Return that the consent text promises other minutes than are paid for, where it names any."""
    minutes = config.online.reward.minutes if config.online and config.online.reward else None
    consent = config.procedure.consent
    match = MINUTES_PATTERN.search(consent) if consent is not None else None
    promised_minutes = {float(n) for n in match.groups() if n} if match else set() if consent is not None else {STANDARD_MINUTES}
    if minutes is None or not promised_minutes or min(promised_minutes) <= minutes <= max(promised_minutes):
        return None
    text_name = "the standard consent text" if consent is None else "procedure.consent"
    promised_text = " to ".join(f"{n:g}" for n in sorted(promised_minutes))
    return (
        f"{config.path}: {text_name} says that the study takes {promised_text} minutes, online.reward.minutes is {minutes:g}; "
        f"{'state a procedure.consent of your own' if consent is None else 'make them agree'}"
    )


def _check_question_count(config: "Study", questions: "pd.DataFrame") -> str | None:
    """Return that the rule of [analysis.exclude] about accuracy can exclude nobody, where lists ask fewer questions."""
    rules = config.analysis.exclude
    counts = questions.groupby(["experiment", "list"])["n_questions"].sum()
    if not rules.min_accuracy or counts.empty or counts.min() >= rules.min_questions:
        return None
    question_range = " to ".join(str(n) for n in sorted({counts.min(), counts.max()}))
    return (
        f"{config.path}: analysis.exclude.min_questions is {rules.min_questions}, but a list asks {question_range}: "
        "nobody can be excluded by "
        f"accuracy; state  [analysis.exclude] questions = {counts.min()}  or fewer"
    )


def _check_answer_balance(questions: "pd.DataFrame") -> str | None:
    """Return that somebody who always gives the same answer is right too often, in the list where that is most so."""
    questions_by_list = questions.groupby(["experiment", "list"])["n_questions"]
    totals = questions_by_list.sum().loc[lambda n: n >= MIN_QUESTIONS]
    answers = questions.groupby(["experiment", "list", "correct_answer"])["n_questions"].sum()
    shares = (answers / totals.reindex(answers.droplevel("correct_answer").index).to_numpy()).dropna()
    if shares.empty or shares.max() <= MAX_ANSWER_SHARE:
        return None
    group = experiment, trial_list, answer = shares.idxmax()
    return (
        f"{experiment}-{trial_list}: the right answer to {answers[group]} of {totals[experiment, trial_list]} "
        f"questions is {answer!r}, "
        "and who always gives it seems to read well; expected about as many of each answer"
    )


def _has_condition_dependent_answer(trial: "Trial", names: set[str]) -> bool:
    """Whether a trial is asked a question whose right answer is another one in another condition."""
    question = trial.item.question if names & {*trial.prompts} else None
    return question is not None and len({*question.answers.values()}) > 1


def _format_answer_counts(questions: "pd.DataFrame") -> str:
    """Return how often each answer is right in each list, by paradigm and condition."""
    index = ["experiment", "list", "paradigm", "condition"]
    table = questions.pivot_table("n_questions", index, "correct_answer", aggfunc="sum", fill_value=0).reset_index()
    return options.format_columns([[*table.columns], *table.astype(str).to_numpy().tolist()])


def _summarise_list(trial_list: "TrialList", names: set[str]) -> str:
    """Return a list's trials by condition, what a paradigm shows of each, and its questions, in words."""
    trials = [trial for trial in trial_list.trials if trial.role != "practice"]
    condition_counts = Counter(trial.condition for trial in trials)
    cell_counts = Counter((trial.item.paradigm, trial.condition) for trial in trials if trial.role == "target")
    per_paradigm = {tuple(cell_counts[p, c] for c in sorted(condition_counts) if cell_counts[p, c]) for p, _ in cell_counts}
    answer_counts = Counter(str(trial.get_answer()) for trial in trials for name in trial.prompts if name in names)
    parts = [f"{len(trials)} trials, " + ", ".join(f"{n} {name}" for name, n in sorted(condition_counts.items()))]
    parts.append("a paradigm " + " or ".join(":".join(map(str, counts)) for counts in sorted(per_paradigm)))
    if answer_counts:
        answers = ", ".join(f"{n} {answer}" for answer, n in sorted(answer_counts.items()))
        parts.append(f"{answer_counts.total()} questions ({answers})")
    return "; ".join([*parts, *(f"{factor}: {level}" for factor, level in trial_list.levels.items())])
