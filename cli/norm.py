"""gardenpath norm: a small study that norms items before the main one, and what came of it."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .score import ScoringOptions, add_scoring_options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.stimuli import Materials
    from gardenpath.stimuli.norming import NormingSettings

POOL_FILE = "pool.jsonl"
EXCLUDED_OPTIONS = ["unigrams", "protocols"]
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def list_norming_tasks() -> list[str]:
    """Return what items can be normed for."""
    from gardenpath.stimuli.norming import NORMING_TASKS

    return list(NORMING_TASKS)


@click.command("norm")
@click.option(
    "--task", type=options.LazyChoice(list_norming_tasks), help="What participants do: go on with fragments, or rate sentences."
)
@click.option("--responses-per-sentence", type=click.IntRange(min=2), help="Answers of each sentence.  [default: 20]")
@click.option(
    "--keep", multiple=True, metavar="RULE", help="Which items are kept, as in 'cloze.ci_high <= 0.4 in neutral'. Repeatable."
)
@click.option("--fragment-end", metavar="NAME", help="Region, or column, at which fragments end.  [default: critical]")
@click.option("--paradigm", "paradigms", multiple=True, metavar="NAME", help="Only this paradigm; may be repeated.")
@click.option("--language", metavar="TAG", help="Language of items whose file states none, such as de.  [default: en]")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Norm so many items, drawn at random.")
@click.option("--list-items", type=click.IntRange(min=1), metavar="K", help="Items a list.  [default: up to 40]")
@click.option(
    "--results",
    metavar="DATA",
    help="Of a norming FOLDER: what was collected (data folder, database, or tables), for norms and decisions.",
)
@click.option("--model", "models", multiple=True, metavar="M", help="Language model set beside people. Repeatable.")
@click.option("--grouping", type=EXISTING_FILE, metavar="FILE", help="The table cloze_responses after you edited it.")
@click.option("--lemmas", type=EXISTING_FILE, metavar="FILE", help="Lexicon with columns form and lemma.")
@click.option(
    "--replacements-from",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Draw as many new items as were dropped from this grammar (.toml), or from these materials, such as drafts.",
)
@click.option(
    "--earlier-items",
    multiple=True,
    type=EXISTING_FILE,
    metavar="FILE",
    help="Items of earlier normings, for --replacements-from. Repeatable.",
)
@options.seed
@functools.partial(add_scoring_options, excluded=EXCLUDED_OPTIONS)
@click.pass_context
def command(
    context: click.Context,
    /,
    scoring: ScoringOptions,
    results: str | None,
    models: tuple[str, ...],
    grouping: Path | None,
    lemmas: Path | None,
    replacements_from: Path | None,
    earlier_items: tuple[Path, ...],
    seed: int | None,
    **study_settings: Any,
) -> None:
    """Make a study that norms MATERIALS in the folder -o; with --results, make norms of what it collected.

    The study is dealt, looked at, served and simulated as any other. Its norm.toml states what is kept before anybody takes
    part. With --results the argument is its folder, and -o gets norms, decisions, the items that are kept (items.jsonl, with
    what was found in free columns) and results.md.
    """
    if results is None:
        for name, value in (
            ("model", models),
            ("grouping", grouping),
            ("lemmas", lemmas),
            ("new", replacements_from),
            ("earlier_items", earlier_items),
        ):
            if value:
                raise click.UsageError(f"--{name} belongs to results: give --results DATA")
        if study_settings["task"] is None:
            raise click.UsageError(f"--task is missing; expected one of {', '.join(list_norming_tasks())}, or --results DATA")
        _create_norming_study(scoring, seed, **study_settings)
        return
    for name, value in study_settings.items():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-').rstrip('s')} is stated when the study is made, not of --results")
    if len(scoring.materials) != 1:
        raise click.UsageError("--results needs one argument, the folder of the norming study")
    _write_norming_results(scoring, results, models, grouping, lemmas, replacements_from, earlier_items, seed)


def _create_norming_study(
    scoring: ScoringOptions,
    seed: int | None,
    *,
    task: str,
    responses_per_sentence: int | None,
    keep: tuple[str, ...],
    fragment_end: str | None,
    paradigms: tuple[str, ...],
    language: str | None,
    sample: int | None,
    list_items: int | None,
) -> None:
    """Write the study."""
    from gardenpath import stimuli, study
    from gardenpath.experiment.setup.norming_studies import create_norming_study
    from gardenpath.stimuli import norming

    if seed is None:
        seed = 1
        options.print_notice(f"--seed {seed}")
    overrides: dict[str, Any] = {"responses_per_sentence": responses_per_sentence, "fragment_end": fragment_end}
    norming_design = norming.NormingSettings(
        task, keep=keep, **{name: value for name, value in overrides.items() if value is not None}
    )
    materials = scoring.read_materials(language)
    items, norming_design = norming.select_items_to_norm(materials, norming_design, paradigms=paradigms, sample=sample, seed=seed)
    for rule in norming_design.rules:
        norming.check_rule_condition(rule, {name for item in items.items for name in item.sentences})
    paths = create_norming_study(scoring.out, items, norming_design, seed=seed, per_list=list_items)
    if sample is not None:
        names = {paradigm.id for paradigm in items.paradigms}
        pool = stimuli.Materials(items.paradigms, tuple(item for item in materials.items if item.paradigm in names))
        stimuli.write(pool, scoring.out / POOL_FILE)
        paths.append(scoring.out / POOL_FILE)
    notes = {"norm_sha256": norming_design.sha256}
    study.files.write_sidecar(
        scoring.out / "items.jsonl", command=options.format_command_line(), inputs=list(scoring.materials), seed=seed, notes=notes
    )
    for path in paths:
        click.echo(path)
    participants_per_item = norming.count_participants_needed(items, norming_design)
    options.print_notice(
        f"{options.format_count(len(items.items), 'item')}, {participants_per_item} participants each; "
        + (
            "; ".join(norming_design.keep)
            if norming_design.keep
            else "no rule for keeping items: state one in norm.toml (--keep) before data"
        )
    )
    options.print_notice(f"next:  gardenpath design {scoring.out / 'study.toml'}")


def _write_norming_results(
    scoring: ScoringOptions,
    data: str,
    models: Sequence[str],
    grouping: Path | None,
    lemmas: Path | None,
    replacements_from: Path | None,
    earlier_items: tuple[Path, ...],
    seed: int | None,
) -> None:
    """Write norms, decisions, the items kept, new ones, and what is said of them."""
    from gardenpath import analysis, stimuli, study
    from gardenpath.analysis.measuring.cloze import select_norming_responses
    from gardenpath.analysis.reporting.wording import norming as wording
    from gardenpath.stimuli import norming

    folder, out = scoring.materials[0], scoring.out
    folder = folder.parent if folder.is_file() else folder
    config, norming_design = study.load(folder), norming.read_norming_settings(folder / "norm.toml")
    is_cloze = norming_design.task == "cloze"
    if not is_cloze and (models or grouping or lemmas):
        raise click.UsageError(f"--model, --grouping and --lemmas belong to cloze; this study asks for {norming_design.task}")
    study.table_files.refuse_existing_tables(out, "norm", scoring.force)
    study.files.refuse_overwrite([out / name for name in ("items.jsonl", "new.jsonl", "results.md")], scoring.force)
    materials = stimuli.read_study(config)
    tables, stated_before_data = _read_collected_tables(data, norming_design)
    responses = select_norming_responses(tables, config.analysis, norming_design.task)
    output_tables: dict[str, pd.DataFrame] = {}
    if is_cloze:
        fragments = norming.build_fragments_table(materials, norming_design.fragment_end)
        edited = None if grouping is None else study.read(grouping, "cloze_responses")
        coded_responses = analysis.code_cloze_responses(
            responses, fragments, is_known_word=_build_word_checker(), edited_forms=edited
        )
        forms = analysis.compute_cloze(coded_responses, fragments, _read_lemmas(lemmas))
        norms = analysis.compute_cloze_norms(forms, fragments)
        output_tables |= {"fragments": fragments, "cloze_responses": coded_responses, "cloze": forms}
    else:
        norms = analysis.compute_rating_norms(responses, stimuli.build_items_table(materials), norming_design.task)
    participants = responses["participant"].unique()
    sessions = tables["sessions"]
    sources = sorted(sessions.loc[sessions["participant"].isin(participants), "source"].unique())
    decisions = norming.compute_norm_decisions(norms, norming_design).assign(
        rules_stated_before_data=stated_before_data, n_participants=len(participants), source=", ".join(sources)
    )
    output_tables |= {"norms": norms, "norm_decisions": decisions}
    sentences = wording.normed(
        norms, output_tables.get("cloze_responses"), len(participants), norming_design.responses_per_sentence
    )
    sentences += wording.chosen(norms, decisions, norming_design.keep, norming_design.sha256, stated_before_data)
    norms_by_model, unnormed_values = None, None
    failed: list[str] = []
    pool = stimuli.read(folder / POOL_FILE) if norming_design.random_sample else None
    if models:
        norms_by_model, forms_by_model, unnormed_values = _compare_models(
            scoring, models, output_tables, decisions, norming_design, materials, pool, failed
        )
        output_tables |= {"norms_by_model": norms_by_model, "cloze_by_model": forms_by_model}
        sentences += wording.compare_with_models(
            norms_by_model, entropy=any(rule.measure == "entropy" for rule in norming_design.rules)
        )
    output_tables["norm_means"] = analysis.compute_norm_means(norms, norms_by_model, unnormed_values)
    if models:
        sentences += wording.predicted(output_tables["norm_means"], drawn=unnormed_values is not None)
    inputs = [
        folder / "norm.toml",
        folder / "items.jsonl",
        *(path for path in (grouping, lemmas, replacements_from, *earlier_items) if path),
    ]
    notes = {"norm_sha256": norming_design.sha256, "stated_before_data": stated_before_data, "models": list(models)}
    kept = norming.add_norms(materials, norms, decisions.loc[decisions["kept"], "item"])
    dropped = decisions.loc[~decisions["kept"], ["item", "paradigm"]].to_records(index=False).tolist()
    files = {"items.jsonl": kept}
    if dropped and replacements_from is not None:
        if seed is None:
            seed = config.seed + 1
            options.print_notice(f"--seed {seed}")
        previous_materials = [materials, *(stimuli.read(path) for path in earlier_items), *([pool] if pool else [])]
        source = stimuli.read_grammar(replacements_from) if replacements_from.suffix == ".toml" else stimuli.read(replacements_from)
        files["new.jsonl"] = norming.draw_replacement_items(
            source, [i for chosen_materials in previous_materials for i in chosen_materials.items], dropped, seed=seed
        )
        sentences.append(wording.replaced(len(dropped), len(files["new.jsonl"].items), replacements_from.name, seed))
    elif dropped:
        options.print_notice(
            f"{options.format_count(len(dropped), 'item')} dropped; for as many new ones give --replacements-from FILE"
        )
    for name, table in output_tables.items():
        path = study.write(
            table, name, out, command=options.format_command_line(), inputs=inputs, seed=seed, notes=notes, parquet=scoring.parquet
        )
        options.print_notice(f"{path}: {len(table)} rows")
    for name, chosen_materials in files.items():
        if chosen_materials.items:
            stimuli.write(chosen_materials, out / name)
            study.files.write_sidecar(out / name, command=options.format_command_line(), inputs=inputs, seed=seed, notes=notes)
            options.print_notice(f"{out / name}: {options.format_count(len(chosen_materials.items), 'item')}")
    study.files.write_text(out / "results.md", _format_results_page(norming_design, sentences, decisions))
    click.echo("\n".join(sentences))
    scoring.raise_failures(failed, len(models) - len(failed))


def _read_collected_tables(data: str, norming_design: "NormingSettings") -> "tuple[dict[str, pd.DataFrame], bool | None]":
    """Return tables, and whether every session ran items with the hash of what is stated; None where tables do not say."""
    from gardenpath import experiment, study
    from gardenpath.experiment.collection.recorded_sessions import open_session_source
    from gardenpath.stimuli.norming import HASH_COLUMN

    path = Path(data)
    names = ("readings", "responses", "sessions", "items", "conditions", "demographics", "replacements")
    if path.is_dir() and (available := [name for name in names if study.table_files.find_table_file(path, name).is_file()]):
        return {name: study.read(path, name) for name in available}, None
    session_data = open_session_source(data, previews=False)
    files = [session_data.list_files[sha256] for sha256 in {session.list_sha256 for session in session_data.sessions}]
    trials = [trial for one in files for trial in one.trial_list.trials if trial.role == "target"]
    return experiment.collect(data), {trial.item.extra.get(HASH_COLUMN) for trial in trials} == {norming_design.sha256}


def _build_word_checker() -> Any:
    """Return what tells whether a word of a language is one, by wordfreq's lists; None where there is no list."""
    from gardenpath.stimuli.item_tables import zipf
    from gardenpath.stimuli.text_checks import find_usable_word_list

    def is_word(word: str, language: str) -> bool | None:
        code = find_usable_word_list(language)
        frequency = None if code is None else zipf(word, code)
        return None if frequency is None else frequency >= 2  # wordfreq holds frequent slips below one in ten million

    return is_word


def _read_lemmas(path: Path | None) -> dict[str, str]:
    """Return the lemma of each form that has one alone, in a lexicon with columns form and lemma."""
    from gardenpath import study

    if path is None:
        return {}
    table = study.table_files.read_csv(path)
    if missing := [name for name in ("form", "lemma") if name not in table]:
        raise study.DataError(
            f"{path}: no column {', '.join(missing)}; expected form and lemma, found {', '.join(map(str, table))}"
        )
    pairs = table[["form", "lemma"]].dropna().drop_duplicates()
    return dict(pairs[~pairs["form"].duplicated(keep=False)].to_numpy().tolist())


def _compare_models(
    scoring: ScoringOptions,
    models: Sequence[str],
    output_tables: "Mapping[str, pd.DataFrame]",
    decisions: "pd.DataFrame",
    norming_design: "NormingSettings",
    materials: "Materials",
    pool: "Materials | None",
    failed: list[str],
) -> "tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame | None]":
    """Return norms and forms beside each model, and, where items were drawn at random, its values of the others.

    `failed` gets a line for each model that could not be used.
    """
    import pandas as pd

    from gardenpath import study
    from gardenpath.analysis.measuring.cloze import merge_shared_fragments
    from gardenpath.stimuli import Materials, norming

    fragments, norms, forms = output_tables["fragments"], output_tables["norms"], output_tables["cloze"]
    normed = {item.id for item in materials.items}
    unnormed = None
    if pool is not None:
        items = tuple(norming.add_cut_region(item, norming_design.fragment_end) for item in pool.items if item.id not in normed)
        unnormed = norming.build_fragments_table(Materials(pool.paradigms, items), norming_design.fragment_end)
    norms_by_model, forms_by_model, unnormed_values = [], [], []

    def score_items(name: str, revision: str | None) -> None:
        loaded = scoring.load_model(name, revision)
        compute_probabilities = functools.partial(
            _compute_word_probabilities, loaded, joiner=scoring.joiner, batch_tokens=scoring.batch_tokens
        )
        values = norms.merge(fragments.drop(columns=["paradigm", "target"]), on=["item", "condition"], validate="1:1")
        values = values.assign(model=loaded.name, model_value=compute_probabilities(values, values["target"]))
        model_decisions = norming.compute_norm_decisions(values, norming_design, value="model_value").rename(
            columns={"kept": "kept_by_model"}
        )
        paired_decisions = decisions[["item", "kept"]].merge(model_decisions[["item", "kept_by_model"]], on="item", validate="1:1")
        norms_by_model.append(values.merge(paired_decisions, on="item", validate="m:1"))
        first = merge_shared_fragments(fragments).drop_duplicates(["item", "conditions"])
        contexts = first[["item", "conditions", "context", "language", "target_attached"]]
        form_rows = forms.merge(contexts, on=["item", "conditions"], validate="m:1")
        forms_by_model.append(
            form_rows.assign(model=loaded.name, model_probability=compute_probabilities(form_rows, form_rows["form"]))
        )
        if unnormed is not None:
            unnormed_values.append(
                unnormed.assign(model=loaded.name, model_value=compute_probabilities(unnormed, unnormed["target"]))
            )

    _, failed[:] = scoring.apply_to_models(models, score_items)

    def build_table(parts: "list[pd.DataFrame]", name: str) -> "pd.DataFrame":
        return study.check(pd.concat(parts, ignore_index=True)[study.TABLES[name].column_names], name)

    all_unnormed = pd.concat(unnormed_values, ignore_index=True) if unnormed_values else None
    return build_table(norms_by_model, "norms_by_model"), build_table(forms_by_model, "cloze_by_model"), all_unnormed


def _compute_word_probabilities(
    model: Any, fragments: "pd.DataFrame", words: "pd.Series[Any]", *, joiner: str | None, batch_tokens: int | None
) -> list[float]:
    """Return what a model gives each word after its fragment."""
    from dataclasses import replace

    from gardenpath import lmscore
    from gardenpath.lmscore.tokens.encoding import build_lead_in
    from gardenpath.lmscore.tokens.protocols import DEFAULT_PROTOCOL

    protocol = replace(DEFAULT_PROTOCOL, joiner=joiner)
    queries = []
    for row, word in zip(fragments.to_dict("records"), words, strict=True):
        context = row["context"] if isinstance(row["context"], str) else None
        lead = build_lead_in(context, joiner=protocol.get_joiner(row["language"]))
        queries.append((lead + row["fragment"], "" if row["target_attached"] else " ", word))
    return lmscore.compute_cloze_probabilities(model, queries, batch_tokens=batch_tokens)


def _format_results_page(norming_design: "NormingSettings", sentences: Sequence[str], decisions: "pd.DataFrame") -> str:
    """Return results.md: the sentences, and what was dropped, with why."""
    text = f"# Norms: {norming_design.task}\n\n" + "".join(f"- {sentence}\n" for sentence in sentences)
    dropped = decisions[~decisions["kept"]]
    if len(dropped):
        text += "\n| dropped | paradigm | why |\n|---|---|---|\n"
        text += "".join(f"| {row.item} | {row.paradigm} | {row.reason} |\n" for row in dropped.itertuples())
    return text
