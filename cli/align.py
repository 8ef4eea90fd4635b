"""gardenpath align: reading times beside surprisal, and the model of one by the other."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gardenpath.cli import analyse, options, simulation_parameters

if TYPE_CHECKING:
    import pandas as pd

    from gardenpath.analysis.reporting.wording import surprisal

SMOOTHS_TABLE = "smooths"
WORD_MEANS_TABLE = "word_means"
EXCLUSION_TABLES = ("responses", "items", "demographics", "replacements")  # who and what is left out


@click.command("align")
@click.argument("tables", type=click.Path(path_type=Path))
@click.argument("scores", type=click.Path(path_type=Path))
@analyse.study_option
@analyse.min_rt_option
@analyse.max_rt_option
@click.option("--lags", type=click.IntRange(0, 3), default=2, show_default=True, help="Words before whose surprisal enters too.")
@click.option(
    "--predictor",
    "predictors",
    multiple=True,
    metavar="NAME",
    help="Column of SCORES' table surprisal in place of surprisal, such as entropy, renyi_2 or surprisal_layer_6; several, "
    "surprisal among them, are compared.  [default: surprisal]",
)
@click.option("--edges", is_flag=True, help="Keep the first and the last word of each sentence.")
@click.option(
    "--slopes/--no-slopes",
    default=True,
    show_default=True,
    help="Let the effect of surprisal vary over participants; two to three times as long.",
)
@click.option("--ignore-alignment-failure", is_flag=True, help="Fit models though the alignment self-test has failed.")
@click.option(
    "--folds-by",
    type=click.Choice(["item", "story", "participant", "row"]),
    default="item",
    show_default=True,
    help="What is held out together for delta log-likelihood; a story is a paradigm.",
)
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True, help="Parts held out in turn.")
@click.option("--seed", type=int, default=1, show_default=True, help="Deals the folds, draws flips and bootstraps.")
@click.option(
    "--ratings",
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="Folder with rating_scores (and noise_ceilings, pairs) from analyse, to correlate with sentence_scores.  "
    "[default: the folder given with -o, where it has them]",
)
@click.option(
    "--rating-measure",
    type=click.Choice(["z", "rating"]),
    help="What is correlated with scores: ratings standardised within participants, or as given.  [default: z]",
)
@click.option("--gam", is_flag=True, help="Curves of surprisal beside its slopes, by R's mgcv: minutes where words are thousands.")
@analyse.engine_option
@options.output_path
@options.parquet
@options.force
def command(
    tables: Path,
    scores: Path,
    study_file: Path | None,
    min_rt: float | None,
    max_rt: float | None,
    lags: int,
    predictors: tuple[str, ...],
    edges: bool,
    slopes: bool,
    ignore_alignment_failure: bool,
    folds_by: str,
    folds: int,
    seed: int,
    ratings: Path | None,
    rating_measure: str | None,
    gam: bool,
    engine: str | None,
    out: Path,
    parquet: bool,
    force: bool,
) -> None:
    """Put each word's reading time beside its surprisal, and model the one by the other.

    TABLES is a folder with readings, sessions and words, or with word_means and words; SCORES a folder with surprisal. Whom and
    what `analyse` leaves out of such tables under [analysis.exclude] is left out here too (responses and items are read). A word
    read without a score, or in another form than was scored, is an error that names it. Where SCORES has sentence_scores and
    `analyse` has written rating_scores, the two are correlated too, and alone where nothing was read word by word.

    First comes a test that reading times stand beside the right words: the next word, not yet seen, must add nothing.
    Where it fails, the exit code is 1 and no models are fitted.
    """
    from gardenpath import analysis
    from gardenpath.analysis.reporting.figures import figure_style, surprisal_figures
    from gardenpath.study import AnalysisSection, load
    from gardenpath.study.files import refuse_overwrite
    from gardenpath.study.table_files import find_table_file, refuse_existing_tables

    settings = load(study_file).analysis if study_file else AnalysisSection()
    settings = analyse.override_settings(
        settings, min_rt=min_rt, max_rt=max_rt, engine=engine, gam=gam or None, rating_measure=rating_measure
    )
    refuse_existing_tables(out, "align", force)
    figures_folder = out / analyse.FIGURES_FOLDER
    refuse_overwrite([figures_folder / f"{SMOOTHS_TABLE}.{form}" for form in ("svg", "png")] if settings.gam else [], force)
    parameters: dict[str, Any] = {
        "lags": lags,
        "edges": edges,
        "slopes": slopes,
        "ignore_alignment_failure": ignore_alignment_failure,
    }
    parameters |= {"folds_by": folds_by, "folds": folds, "seed": seed}
    parameters |= {"predictors": predictors} if predictors else {}
    rating_folders = {"rating_scores": ratings or out, "sentence_scores": scores}
    has_word_means = find_table_file(tables, WORD_MEANS_TABLE).exists()
    reading_tables = [name for name in ("readings", "sessions") if not has_word_means or find_table_file(tables, name).exists()]
    inputs, input_files = analyse.read_tables(
        dict.fromkeys([*reading_tables, *([WORD_MEANS_TABLE] if has_word_means else []), "words"], tables)
        | {"surprisal": scores, **(rating_folders if ratings else {})},
        {
            **({} if ratings else rating_folders),
            **dict.fromkeys(EXCLUSION_TABLES, tables),
            "noise_ceilings": ratings or out,
            "pairs": ratings or out,
        },
    )
    results = analysis.align(inputs, analysis.AlignmentOptions(settings=settings, **parameters))
    notes = analyse.describe_settings(settings) | parameters
    analyse.write_tables(results, out, input_files, notes, parquet)
    if len(results.get(SMOOTHS_TABLE, ())):
        figure_style.save(surprisal_figures.smooth_figure(results[SMOOTHS_TABLE]), SMOOTHS_TABLE, figures_folder)
        options.print_notice(f"{figures_folder / SMOOTHS_TABLE}.svg: curves of surprisal, as SVG and PNG")
    _print_results(results, simulation_parameters.read_ms_per_bit(find_table_file(tables, "sessions")))


def _print_results(results: Mapping[str, "pd.DataFrame"], simulated: "surprisal.SimulatedCosts") -> None:
    """Print what was found; language models that failed the self-test, and so were not fitted, are a `DataError`."""
    from gardenpath.analysis.reporting.wording import minimal_pairs, surprisal
    from gardenpath.study import DataError

    sentences, misaligned = [], False
    if "alignment_models" in results:
        models = results["alignment_models"]
        withheld = models["note"].str.contains("self-test failed").fillna(False).astype(bool)
        misaligned = bool(withheld.any())
        sentences += [
            *surprisal.alignment_check(results["alignment_check"], results["lag_profile"]),
            *surprisal.slopes(models[~withheld]),
            *surprisal.costs(results["surprisal_effects"]),
            *surprisal.recovered(results["surprisal_effects"], simulated),
            *surprisal.gains(results["delta_log_likelihood"]),
            *surprisal.gain_comparisons(results["delta_comparisons"]),
        ]
    if "rating_correlations" in results:
        sentences += minimal_pairs.rating_correlations(results["rating_correlations"])
    for sentence in sentences:
        click.echo(sentence)
    if misaligned:
        raise DataError(
            f"{surprisal.MISALIGNED}, so they were not modelled; once you know why, correct the tables, or go on with "
            "--ignore-alignment-failure"
        )
