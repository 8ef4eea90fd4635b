"""Numbers in words: statistics in APA style, and a sentence for each result, all from the declared tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ...contrasts import INTERCEPTS, SLOPES, TERM
from ...evaluation import MEAN, POOLED
from ...ledger import ALL
from ...measures import SENTENCE_WIDE
from ...prompts import ASKED, named, of, told
from ...reliability import POOR
from ...rows import records

Row = Mapping[str, Any]
ALPHA = 0.05
FIRST = (SENTENCE_WIDE, "critical")  # the regions whose effects are told one by one


def apa(row: Row) -> str:
    """Return a coefficient in APA style: estimate, 95 % interval, t with its df, p, and p adjusted where there is one.

    Estimates have as many decimals as show two digits of their standard error.

    >>> row = {"estimate": 0.124, "se": 0.0294, "df": 614.0, "t": 4.22, "p": 2.8e-5, "ci_low": 0.066, "ci_high": 0.182}
    >>> apa(row)
    'b = 0.124, 95% CI [0.066, 0.182], t(614.0) = 4.22, p < .001'
    """
    places = decimals(row["se"])
    df: str = "" if pd.isna(row["df"]) else f"({row['df']:.1f})"
    low, high = (_signed(row[end], places) for end in ("ci_low", "ci_high"))
    parts = [f"b = {_signed(row['estimate'], places)}", f"95% CI [{low}, {high}]"]
    parts += [f"{'t' if df else 'z'}{df} = {_signed(row['t'], 2)}", f"p {p_value(row['p'])}"]
    adjusted = row.get("p_bh")
    return ", ".join(parts if adjusted is None or pd.isna(adjusted) else [*parts, f"p_BH {p_value(adjusted)}"])


def decimals(se: float) -> int:
    """Return how many decimals show two digits of a standard error, two at least.

    >>> decimals(0.12), decimals(0.0294), decimals(0.00092)
    (2, 3, 5)
    """
    if pd.isna(se) or se <= 0:
        return 2
    return min(6, max(2, 1 - math.floor(math.log10(se))))


def p_value(p: float) -> str:
    """Return p with its relation, in APA style.

    >>> p_value(0.0414), p_value(0.00001), p_value(1.0)
    ('= .041', '< .001', '= 1.000')
    """
    if pd.isna(p):
        return "not available"
    if p < 0.001:
        return "< .001"
    return f"= {p:.3f}".replace("0.", ".")


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal.

    >>> percent(0.8751)
    '87.5%'
    """
    return f"{100 * share:.1f}%"


def _signed(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    text = text[1:] if float(text) == 0 and text.startswith("-") else text
    return text.replace("-", "−")


def label(name: object) -> str:
    """Return a name as people write it.

    >>> label("anaphor_agreement")
    'anaphor agreement'
    """
    return str(name).replace("_", " ")


def asked(prompt: str | None) -> str:
    """Return a prompt in brackets, as people write it; nothing for None, or an empty cell.

    >>> asked("how_likely"), asked(None)
    (' (how likely)', '')
    """
    return named(None if pd.isna(prompt) else label(prompt))


def mean_z(prompt: str | None) -> str:
    """Return how the axis of mean z is called.

    >>> mean_z(None), mean_z("plausibility")
    ('mean rating (z)', 'mean rating (plausibility, z)')
    """
    return f"mean rating ({'' if prompt is None else f'{label(prompt)}, '}z)"


def effect(row: Row, prompt: str | None = None) -> str:
    """Return what a grammaticality coefficient means for ratings (measure z) or reading times (measure log_rt).

    A `prompt` is named beside the phenomenon.
    """
    name = label(row["phenomenon"]) + asked(prompt)
    if pd.isna(row["estimate"]):
        return f"{name}: {row['note']}"
    what = "rated" if row["measure"] == "z" else "read"
    p = row["p_bh"] if not pd.isna(row["p_bh"]) else row["p"]
    if pd.isna(p) or p >= ALPHA:
        return f"{name}: the data do not show that grammaticality changes how sentences were {what} ({apa(row)})."
    if what == "rated":
        higher = "higher" if row["estimate"] > 0 else "lower"
        size = f"{abs(row['estimate']):.2f} standard deviations {higher}"
        return f"{name}: grammatical sentences were rated {size} than ungrammatical ones ({apa(row)})."
    change = math.expm1(row["estimate"])
    size = f"{percent(abs(change))} {'more' if change > 0 else 'less'} time"
    size += in_ms(row)
    return f"{name}: the critical region took {size} in grammatical than in ungrammatical sentences ({apa(row)})."


def in_ms(row: Row) -> str:
    """Return an effect in ms in brackets, nothing where there is none."""
    if pd.isna(row.get("ms", float("nan"))):
        return ""
    low, high = _signed(row["ms_low"], 0), _signed(row["ms_high"], 0)
    return f" ({_signed(row['ms'], 0)} ms, 95% CI [{low}, {high}])"


def effects(models: pd.DataFrame, measure: str, prompts: Sequence[str | None] = ()) -> list[str]:
    """Return how many phenomena of a measure differ after correction, then a sentence for each declared model.

    To each is added what the model with slopes says of it, where there is one. Prompts of ratings are named where there are
    several: in the table, or in `prompts`.
    """
    tested = models[(models["measure"] == measure) & (models["term"] == TERM)]
    counts, single = [], []
    prompts = prompts or told(tested)
    for prompt in prompts:
        part = of(tested, prompt)
        declared = part[part["random"] == INTERCEPTS]
        rows = declared[declared["region"].isin(FIRST)]
        if rows.empty:
            continue
        slopes = records(part[(part["random"] == SLOPES) & part["region"].isin(FIRST)])
        beside = {row["phenomenon"]: row for row in slopes}
        counts += _counted(declared, measure, prompt)
        single += [effect(row, prompt) + _with_slopes(beside.get(row["phenomenon"])) for row in records(rows)]
    if counts and len(prompts) > 1:
        declared = tested[tested["random"] == INTERCEPTS]
        counts.append(
            f"Corrected over all {int(declared['p'].notna().sum())} tests of the {len(prompts)} prompts together, "
            f"{int((declared['p_bh_all'] < ALPHA).sum())} differences remain."
        )
    return [*counts, *single]


def _with_slopes(row: Row | None) -> str:
    if row is None or pd.isna(row["p"]):
        return ""
    return f" With slopes: t({row['df']:.1f}) = {_signed(row['t'], 2)}, p {p_value(row['p'])}, p_BH {p_value(row['p_bh'])}."


def _counted(declared: pd.DataFrame, measure: str, prompt: str | None) -> list[str]:
    found = {str(region): int((rows["p_bh"] < ALPHA).sum()) for region, rows in declared.groupby("region", sort=True)}
    first = next(region for region in FIRST if region in found)
    n = int((declared["region"] == first).sum())
    what = f"Ratings{asked(prompt)}" if measure == "z" else "Reading times of the critical region"
    total = f"{n} phenomen{'on' if n == 1 else 'a'}"
    sentences = [
        f"{what} differ between grammatical and ungrammatical sentences in {found[first]} of {total} (p_BH < .05)."
    ]
    later = [f"{count} at {region}" for region, count in found.items() if region != first]
    if later:
        everywhere = int((declared["p_bh_all"] < ALPHA).sum())
        tests = int(declared["p"].notna().sum())
        sentences.append(
            f"Of the words after the region, they differ in {' and '.join(later)}; corrected over all {tests} tests together, "
            f"{everywhere} differences remain."
        )
    return sentences


def exclusions(ledger: pd.DataFrame, people: pd.DataFrame, prompts: pd.DataFrame) -> list[str]:
    """Return what was left out by each rule that left out anything, and how many participants are flagged.

    `people` and `prompts` are the tables participants and participant_prompts.
    """
    whole = ledger[
        (ledger["condition"] == ALL) & (ledger["table"].isin(COUNTED) | ledger["table"].str.startswith(ASKED))
    ]
    sentences = [
        f"{row['excluded']} of {row['before']} {COUNTED.get(row['table'], 'answers')} left out: {row['rule']}."
        for row in records(whole)
        if row["excluded"]
    ]
    if len(people):
        gone = people["excluded"].value_counts(sort=False)
        sentences += [f"{n} of {len(people)} participants left out: {rule}." for rule, n in gone.items()]
    if len(ledger) and not sentences:
        sentences = ["No session, participant, rating or critical region was left out."]
    tested = prompts.dropna(subset="flagged")
    for prompt in told(tested) if len(tested) else ():
        of_prompt = of(tested, prompt)["flagged"].astype(bool)
        sentences.append(
            f"The ratings{asked(prompt)} of {int(of_prompt.sum())} of {len(of_prompt)} participants do not tell grammatical from "
            "ungrammatical sentences apart (Mann-Whitney, p ≥ .05). They stay: such a rule is circular with the effect."
        )
    return sentences


COUNTED = {
    "sessions": "sessions",
    "rating_scores": "ratings",
    "region_times: critical": "critical regions",
    "region_times: critical+1": "first words after the region",
    "region_times: critical+2": "second words after the region",
}
UNITS = {"z": "standard deviations", "log_rt": "log ms"}


def power(models: pd.DataFrame, smallest: Mapping[str, float]) -> list[str]:
    """Return the range of minimum detectable effects, and how many reach the smallest effect of interest, if it is declared."""
    sentences = []
    declared = models[(models["term"] == TERM) & (models["random"] == INTERCEPTS)].dropna(subset="mde")
    for (measure, region), family in declared.groupby(["measure", "region"], sort=True):
        for prompt in told(family):
            rows = of(family, prompt)
            low, high = rows["mde"].min(), rows["mde"].max()
            what = f"Ratings{asked(prompt)}" if measure == "z" else f"Reading times, {region}"
            text = (
                f"{what}: with these standard errors, effects from {low:.3f} (best phenomenon) to {high:.3f} (worst) "
                f"{UNITS[str(measure)]} would be found in 80% of repetitions"
            )
            if str(measure) in smallest:
                least = smallest[str(measure)]
                reached = int((rows["mde"] <= least).sum())
                text += f"; the smallest effect of interest, {least:g}, is within reach in {reached} of {len(rows)}"
            sentences.append(f"{text}.")
    return sentences


def robustness(grid: pd.DataFrame) -> list[str]:
    """Return, for each phenomenon, how far the effect on reading times depends on cutoff, transform and flagged participants."""
    sentences = []
    times = grid[grid["measure"] == "log_rt"].dropna(subset="ms")
    for phenomenon, rows in times.groupby("phenomenon", sort=True):
        declared = rows.loc[rows["declared"], "ms"]
        if declared.empty:
            continue
        alike = int(((rows["ms"] > 0) == (declared.item() > 0)).sum())
        out = int(((rows["ci_low"] > 0) | (rows["ci_high"] < 0)).sum())
        sentences.append(
            f"{label(phenomenon)}: {_signed(declared.item(), 0)} ms as declared, {_signed(rows['ms'].min(), 0)} to "
            f"{_signed(rows['ms'].max(), 0)} ms under {len(rows)} choices; {alike} have the same sign, and the "
            f"intervals of {out} leave out zero."
        )
    return sentences


def agreement(reliability: pd.DataFrame, ceilings: pd.DataFrame, choices: pd.DataFrame) -> list[str]:
    """Return how far people agree, prompt by prompt: ICC by paradigm and version, ceilings, and forced choices."""
    sentences = []
    for prompt in told(reliability):
        sentences += _agreeing(of(reliability, prompt), prompt)
    for prompt in told(ceilings):
        known = of(ceilings, prompt).dropna(subset="ceiling")
        reached = [f"{row['ceiling']:.2f} over {row['level']}" for row in records(known)]
        if reached:
            sentences.append(
                f"A perfect model would correlate with these ratings{asked(prompt)} by {', '.join(reached)}."
            )
    for prompt in told(choices):
        made = of(choices, prompt)
        for row in records(made[made["paradigm"] == ALL] if len(made) > 1 else made):
            paradigms = made[made["paradigm"] != ALL]
            sentences.append(
                f"In forced choice{asked(prompt)}, {percent(row['individual'])} of {row['choices']} single choices are of the "
                f"grammatical member, and the majority chose it in {percent(row['majority'])} of {row['pairs']} pairs; "
                f"{int(paradigms['kept'].sum())} of {len(paradigms)} paradigms reach four of five pairs."
            )
    return sentences


def _agreeing(reliability: pd.DataFrame, prompt: str | None) -> list[str]:
    sentences = []
    whole = reliability[(reliability["condition"] == ALL)].dropna(subset="icc")
    if len(whole):
        poor = whole[whole["icc"] < POOR]
        text = (
            f"ICC(2,k){asked(prompt)} over all sentences of a paradigm in a version: median {whole['icc'].median():.2f}, from "
            f"{whole['icc'].min():.2f} to {whole['icc'].max():.2f}"
        )
        within = reliability[reliability["condition"] != ALL].dropna(subset="icc")
        if len(within):
            text += f"; within a condition the median is {_signed(within['icc'].median(), 2)}"
        names = ", ".join(
            f"{label(row['paradigm'])} ({row['experiment']}-{row['version']})" for row in records(poor.head(8))
        )
        more = f" and {len(poor) - 8} more" if len(poor) > 8 else ""
        below = f" It is below {POOR:g} in {len(poor)} of {len(whole)}: {names}{more}." if len(poor) else ""
        sentences.append(f"{text}.{below}")
    return sentences


def accuracies(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each model, protocol and measure: pairs won, mean over paradigms, weakest paradigm."""
    sentences = []
    for (model, protocol, measure), rows in table.groupby(["model", "protocol", "measure"], sort=False):
        overall = {row["paradigm"]: row for row in records(rows[rows["phenomenon"] == "all"])}
        pooled, mean = overall["pooled"], overall["mean"]
        paradigms = rows[~rows["paradigm"].isin([MEAN, POOLED])]
        weakest = records(paradigms.nsmallest(1, "accuracy"))[0]
        low, high = percent(pooled["wilson_low"]), percent(pooled["wilson_high"])
        sentences.append(
            f"{model} ({protocol}, {measure}) gives the grammatical sentence the higher score in "
            f"{percent(pooled['accuracy'])} of {pooled['n']} pairs (95% Wilson interval {low} to {high}); the mean "
            f"over {len(paradigms)} paradigms is {percent(mean['accuracy'])}, the lowest "
            f"{percent(weakest['accuracy'])} ({label(weakest['paradigm'])})."
        )
    return sentences


def slopes(models: pd.DataFrame) -> list[str]:
    """Return, for each language model, what a bit of surprisal does to reading time: on the word, then on the next."""
    sentences = []
    for row in records(models[models["term"].isin(["surprisal", "surprisal_previous"])]):
        whose = "its surprisal" if row["term"] == "surprisal" else "the surprisal of the word before"
        name = f"{row['model']} ({row['protocol']})"
        if pd.isna(row["estimate"]):
            sentences.append(f"{name}: {row['note']}")
        elif pd.isna(row["p"]) or row["p"] >= ALPHA:
            sentences.append(
                f"{name}: the data give no evidence for an effect of {whose} on a word's reading time ({apa(row)})."
            )
        else:
            change = math.expm1(row["estimate"])
            longer = "longer" if change > 0 else "shorter"
            size = f"{100 * abs(change):.2g}% {longer}"
            sentences.append(f"{name}: a word is read {size} for each bit of {whose} ({apa(row)}).")
    return sentences


def notes(models: pd.DataFrame, by: str) -> list[str]:
    """Return the notes of fitted models, each once, after the models (values of column `by`) that it holds for."""
    noted = models[models["note"].notna() & models["estimate"].notna()]
    grouped: dict[str, list[str]] = {}
    for name, note in zip(noted[by], noted["note"], strict=True):
        names = grouped.setdefault(str(note), [])
        if label(name) not in names:
            names.append(label(name))
    return [f"{', '.join(names)}: {note}" for note, names in grouped.items()]
