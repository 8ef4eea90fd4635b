"""gardenpath norm: a small study that norms items before the main one, and what came of it."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .score import Scoring, scoring_options

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.stimuli import Materials
    from gardenpath.stimuli.norming import Norming

POOL = "pool.jsonl"
WITHOUT = ["unigrams", "protocols"]
file = click.Path(path_type=Path, exists=True, dir_okay=False)


def tasks() -> list[str]:
    """Return what items can be normed for."""
    from gardenpath.stimuli.norming import TASKS

    return list(TASKS)


@click.command("norm")
@click.option("--task", type=options.OneOf(tasks), help="What readers do: go on with fragments, or rate sentences.")
@click.option("--per-item", type=click.IntRange(min=2), help="Answers of each sentence.  [default: 20]")
@click.option(
    "--keep",
    multiple=True,
    metavar="RULE",
    help="Which items are kept, as in 'cloze.high <= 0.4 in neutral'. Repeatable.",
)
@click.option("--until", metavar="NAME", help="Region, or column, at which fragments end.  [default: critical]")
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
@click.option("--grouping", type=file, metavar="FILE", help="The table cloze_answers after you edited it.")
@click.option("--lemmas", type=file, metavar="FILE", help="Lexicon with columns form and lemma.")
@click.option(
    "--new",
    type=file,
    metavar="FILE",
    help="Draw as many new items as were dropped from this grammar (.toml), or from these materials, such as drafts.",
)
@click.option(
    "--seen", multiple=True, type=file, metavar="FILE", help="Items of earlier normings, for --new. Repeatable."
)
@options.seed
@functools.partial(scoring_options, without=WITHOUT)
@click.pass_context
def command(
    context: click.Context,
    /,
    scoring: Scoring,
    results: str | None,
    models: tuple[str, ...],
    grouping: Path | None,
    lemmas: Path | None,
    new: Path | None,
    seen: tuple[Path, ...],
    seed: int | None,
    **made: Any,
) -> None:
    """Make a study that norms MATERIALS in the folder -o; with --results, make norms of what it collected.

    The study is dealt, looked at, served and simulated as any other. Its norm.toml states what is kept before anybody takes
    part. With --results the argument is its folder, and -o gets norms, decisions, the items that are kept (items.jsonl, with
    what was found in free columns) and results.md.
    """
    if results is None:
        for name, given in (
            ("model", models),
            ("grouping", grouping),
            ("lemmas", lemmas),
            ("new", new),
            ("seen", seen),
        ):
            if given:
                raise click.UsageError(f"--{name} belongs to results: give --results DATA")
        if made["task"] is None:
            raise click.UsageError(f"--task is missing; expected one of {', '.join(tasks())}, or --results DATA")
        _make(scoring, seed, **made)
        return
    for name, given in made.items():
        if given:
            raise click.UsageError(
                f"--{name.replace('_', '-').rstrip('s')} is stated when the study is made, not of --results"
            )
    if len(scoring.materials) != 1:
        raise click.UsageError("--results needs one argument, the folder of the norming study")
    _conclude(scoring, results, models, grouping, lemmas, new, seen, seed)


def _make(
    scoring: Scoring,
    seed: int | None,
    *,
    task: str,
    per_item: int | None,
    keep: tuple[str, ...],
    until: str | None,
    paradigms: tuple[str, ...],
    language: str | None,
    sample: int | None,
    list_items: int | None,
) -> None:
    """Write the study."""
    from gardenpath import stimuli, study
    from gardenpath.experiment.norming_studies import norming_study
    from gardenpath.stimuli import norming

    if seed is None:
        seed = 1
        options.talk(f"--seed {seed}")
    given = {"per_item": per_item, "until": until}
    stated = norming.Norming(task, keep=keep, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    read = scoring.read(language)
    items, stated = norming.to_norm(read, stated, paradigms=paradigms, sample=sample, seed=seed)
    for rule in stated.rules:
        norming.check_condition(rule, {name for item in items.items for name in item.sentences})
    paths = norming_study(scoring.out, items, stated, seed=seed, per_list=list_items)
    if sample is not None:
        names = {paradigm.id for paradigm in items.paradigms}
        pool = stimuli.Materials(items.paradigms, tuple(item for item in read.items if item.paradigm in names))
        stimuli.write(pool, scoring.out / POOL)
        paths.append(scoring.out / POOL)
    notes = {"norm_sha256": stated.sha256}
    study.files.write_sidecar(
        scoring.out / "items.jsonl", command=options.typed(), inputs=list(scoring.materials), seed=seed, notes=notes
    )
    for path in paths:
        click.echo(path)
    readers = norming.readers_of(items, stated)
    options.talk(
        f"{options.count(len(items.items), 'item')}, {readers} readers each; "
        + (
            "; ".join(stated.keep)
            if stated.keep
            else "no rule for keeping items: state one in norm.toml (--keep) before data"
        )
    )
    options.talk(f"next:  gardenpath design {scoring.out / 'study.toml'}")


def _conclude(
    scoring: Scoring,
    data: str,
    models: Sequence[str],
    grouping: Path | None,
    lemmas: Path | None,
    new: Path | None,
    seen: tuple[Path, ...],
    seed: int | None,
) -> None:
    """Write norms, decisions, the items kept, new ones, and what is said of them."""
    from gardenpath import analysis, stimuli, study
    from gardenpath.analysis.measuring.cloze import norming_responses
    from gardenpath.analysis.reporting.wording import norming as wording
    from gardenpath.stimuli import norming

    folder, out = scoring.materials[0], scoring.out
    folder = folder.parent if folder.is_file() else folder
    plan, stated = study.load(folder), norming.read_norming(folder / "norm.toml")
    is_cloze = stated.task == "cloze"
    if not is_cloze and (models or grouping or lemmas):
        raise click.UsageError(f"--model, --grouping and --lemmas belong to cloze; this study asks for {stated.task}")
    study.table_files.refuse_tables(out, "norm", scoring.force)
    study.files.refuse_overwrite([out / name for name in ("items.jsonl", "new.jsonl", "results.md")], scoring.force)
    materials = stimuli.read_study(plan)
    tables, declared = _collected(data, stated)
    responses = norming_responses(tables, plan.analysis, stated.task)
    made: dict[str, pd.DataFrame] = {}
    if is_cloze:
        fragments = norming.fragments(materials, stated.until)
        edited = None if grouping is None else study.read(grouping, "cloze_answers")
        answers = analysis.group_answers(responses, fragments, known=_known(), edited=edited)
        forms = analysis.cloze(answers, fragments, _lemmas(lemmas))
        norms = analysis.cloze_norms(forms, fragments)
        made |= {"fragments": fragments, "cloze_answers": answers, "cloze": forms}
    else:
        norms = analysis.rating_norms(responses, stimuli.items_table(materials), stated.task)
    readers = responses["participant"].unique()
    sessions = tables["sessions"]
    sources = sorted(sessions.loc[sessions["participant"].isin(readers), "source"].unique())
    decided = norming.decisions(norms, stated).assign(stated=declared, readers=len(readers), source=", ".join(sources))
    made |= {"norms": norms, "norm_decisions": decided}
    said = wording.normed(norms, made.get("cloze_answers"), len(readers), stated.per_item)
    said += wording.chosen(norms, decided, stated.keep, stated.sha256, declared)
    by_model, others = None, None
    failed: list[str] = []
    pool = stimuli.read(folder / POOL) if stated.drawn_at_random else None
    if models:
        by_model, by_form, others = _models(scoring, models, made, decided, stated, materials, pool, failed)
        made |= {"norms_by_model": by_model, "cloze_by_model": by_form}
        said += wording.beside_model(by_model, entropy=any(rule.measure == "entropy" for rule in stated.rules))
    made["norm_means"] = analysis.norm_means(norms, by_model, others)
    if models:
        said += wording.predicted(made["norm_means"], drawn=others is not None)
    inputs = [folder / "norm.toml", folder / "items.jsonl", *(path for path in (grouping, lemmas, new, *seen) if path)]
    notes = {"norm_sha256": stated.sha256, "stated_before_data": declared, "models": list(models)}
    kept = norming.with_norms(materials, norms, decided.loc[decided["kept"], "item"])
    dropped = decided.loc[~decided["kept"], ["item", "paradigm"]].to_records(index=False).tolist()
    files = {"items.jsonl": kept}
    if dropped and new is not None:
        if seed is None:
            seed = plan.seed + 1
            options.talk(f"--seed {seed}")
        before = [materials, *(stimuli.read(path) for path in seen), *([pool] if pool else [])]
        source = stimuli.read_grammar(new) if new.suffix == ".toml" else stimuli.read(new)
        files["new.jsonl"] = norming.new_items(source, [i for some in before for i in some.items], dropped, seed=seed)
        said.append(wording.replaced(len(dropped), len(files["new.jsonl"].items), new.name, seed))
    elif dropped:
        options.talk(
            f"{options.count(len(dropped), 'item')} dropped; for as many new ones give --new a grammar, or drafts"
        )
    for name, table in made.items():
        path = study.write(
            table, name, out, command=options.typed(), inputs=inputs, seed=seed, notes=notes, parquet=scoring.parquet
        )
        options.talk(f"{path}: {len(table)} rows")
    for name, some in files.items():
        if some.items:
            stimuli.write(some, out / name)
            study.files.write_sidecar(out / name, command=options.typed(), inputs=inputs, seed=seed, notes=notes)
            options.talk(f"{out / name}: {options.count(len(some.items), 'item')}")
    study.files.write_text(out / "results.md", _page(stated, said, decided))
    click.echo("\n".join(said))
    scoring.say_failed(failed, len(models) - len(failed))


def _collected(data: str, stated: "Norming") -> "tuple[dict[str, pd.DataFrame], bool | None]":
    """Return tables, and whether every session ran items with the hash of what is stated; None where tables do not say."""
    from gardenpath import experiment, study
    from gardenpath.experiment.collect_data import recorded
    from gardenpath.stimuli.norming import MARK

    path = Path(data)
    names = ("readings", "responses", "sessions", "items", "conditions", "demographics", "replacements")
    if path.is_dir() and (there := [name for name in names if study.table_files.table_file(path, name).is_file()]):
        return {name: study.read(path, name) for name in there}, None
    ran = recorded(data, previews=False)
    files = [ran.files[sha256] for sha256 in {session.version_sha256 for session in ran.sessions}]
    trials = [trial for one in files for trial in one.version.trials if trial.role == "target"]
    return experiment.collect(data), {trial.item.extra.get(MARK) for trial in trials} == {stated.sha256}


def _known() -> Any:
    """Return what tells whether a word of a language is one, by wordfreq's lists; None where there is no list."""
    from gardenpath.stimuli.item_tables import zipf
    from gardenpath.stimuli.text_checks import listed

    def known(word: str, language: str) -> bool | None:
        code = listed(language)
        frequency = None if code is None else zipf(word, code)
        return None if frequency is None else frequency >= 2  # wordfreq holds frequent slips below one in ten million

    return known


def _lemmas(path: Path | None) -> dict[str, str]:
    """Return the lemma of each form that has one alone, in a lexicon with columns form and lemma."""
    from gardenpath import study

    if path is None:
        return {}
    table = study.table_files.read_csv(path)
    if absent := [name for name in ("form", "lemma") if name not in table]:
        raise study.DataError(
            f"{path}: no column {', '.join(absent)}; expected form and lemma, found {', '.join(map(str, table))}"
        )
    pairs = table[["form", "lemma"]].dropna().drop_duplicates()
    return dict(pairs[~pairs["form"].duplicated(keep=False)].to_numpy().tolist())


def _models(
    scoring: Scoring,
    models: Sequence[str],
    made: "Mapping[str, pd.DataFrame]",
    decided: "pd.DataFrame",
    stated: "Norming",
    materials: "Materials",
    pool: "Materials | None",
    failed: list[str],
) -> "tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame | None]":
    """Return norms and forms beside each model, and, where items were drawn at random, its values of the others.

    `failed` gets a line for each model that could not be used.
    """
    import pandas as pd

    from gardenpath import study
    from gardenpath.analysis.measuring.cloze import shared_fragments
    from gardenpath.stimuli import Materials, norming

    fragments, norms, forms = made["fragments"], made["norms"], made["cloze"]
    normed = {item.id for item in materials.items}
    unasked = None
    if pool is not None:
        items = tuple(norming.cut(item, stated.until) for item in pool.items if item.id not in normed)
        unasked = norming.fragments(Materials(pool.paradigms, items), stated.until)
    by_model, by_form, others = [], [], []

    def beside(name: str, revision: str | None) -> None:
        loaded = scoring.load(name, revision)
        probable = functools.partial(_probabilities, loaded, joiner=scoring.joiner, batch_tokens=scoring.batch_tokens)
        values = norms.merge(fragments.drop(columns=["paradigm", "target"]), on=["item", "condition"], validate="1:1")
        values = values.assign(model=loaded.name, model_value=probable(values, values["target"]))
        its = norming.decisions(values, stated, value="model_value").rename(columns={"kept": "kept_by_model"})
        both = decided[["item", "kept"]].merge(its[["item", "kept_by_model"]], on="item", validate="1:1")
        by_model.append(values.merge(both, on="item", validate="m:1"))
        first = shared_fragments(fragments).drop_duplicates(["item", "conditions"])
        places = first[["item", "conditions", "context", "language", "adjacent"]]
        each = forms.merge(places, on=["item", "conditions"], validate="m:1")
        by_form.append(each.assign(model=loaded.name, model_probability=probable(each, each["form"])))
        if unasked is not None:
            others.append(unasked.assign(model=loaded.name, model_value=probable(unasked, unasked["target"])))

    _, failed[:] = scoring.each_model(models, beside)

    def table(parts: "list[pd.DataFrame]", name: str) -> "pd.DataFrame":
        return study.check(pd.concat(parts, ignore_index=True)[study.TABLES[name].names], name)

    rest = pd.concat(others, ignore_index=True) if others else None
    return table(by_model, "norms_by_model"), table(by_form, "cloze_by_model"), rest


def _probabilities(
    model: Any, fragments: "pd.DataFrame", words: "pd.Series[Any]", *, joiner: str | None, batch_tokens: int | None
) -> list[float]:
    """Return what a model gives each word after its fragment."""
    from dataclasses import replace

    from gardenpath import lmscore
    from gardenpath.lmscore.tokens.encoding import lead_in
    from gardenpath.lmscore.tokens.protocols import DEFAULT

    protocol = replace(DEFAULT, joiner=joiner)
    asked = []
    for row, word in zip(fragments.to_dict("records"), words, strict=True):
        context = row["context"] if isinstance(row["context"], str) else None
        lead = lead_in(context, joiner=protocol.joins(row["language"]))
        asked.append((lead + row["fragment"], "" if row["adjacent"] else " ", word))
    return lmscore.cloze_probabilities(model, asked, batch_tokens=batch_tokens)


def _page(stated: "Norming", said: Sequence[str], decided: "pd.DataFrame") -> str:
    """Return results.md: the sentences, and what was dropped, with why."""
    text = f"# Norms: {stated.task}\n\n" + "".join(f"- {sentence}\n" for sentence in said)
    dropped = decided[~decided["kept"]]
    if len(dropped):
        text += "\n| dropped | paradigm | why |\n|---|---|---|\n"
        text += "".join(f"| {row.item} | {row.paradigm} | {row.reason} |\n" for row in dropped.itertuples())
    return text
