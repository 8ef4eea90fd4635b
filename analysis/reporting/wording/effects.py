"""What grammaticality does to ratings and reading times: the declared models, models beside them, and how sure it all is."""

import math
from collections.abc import Sequence

import pandas as pd

from gardenpath.study.config import CUMULATIVE_REGIONS, Sesoi, find_sesoi, parse_region_name
from gardenpath.study.plans import INTERCEPTS
from gardenpath.study.responses import RESPONSES, is_standardised

from ...grammatical_status import GRAMMATICALITY
from ...intervals import ALPHA
from ...measuring.region_spans import SENTENCE_REGION
from ...model_results import is_intercepts_form
from ...modelling.pilot import PILOT, UPPER
from ...prompts import filter_prompt, list_prompts
from ...row_dicts import list_rows
from .fits import AGREEING, FORMS, crosschecked, form
from .labels import asked, coefficient, label
from .numbers import Row, apa, correlation, interval, percent, signed, significance
from .sources import Sentence, read_off
from .terms import term

FIRST = (SENTENCE_REGION, "critical")  # the regions whose effects have a sentence each
# What is counted, in `Source`'s words.
DIFFERING, REMAINING, TESTS = f"count p_adjusted < {ALPHA:g}", f"count p_adjusted_all < {ALPHA:g}", "count p.notna()"
ENOUGH = 0.8  # share of studies that find an effect


def effect(row: Row, prompt: str | None = None) -> Sentence:
    """Return what a grammaticality coefficient means for ratings (standardised) or reading times (response log_rt).

    A `prompt` is named beside the phenomenon.
    """
    return read_off(_effect(row, prompt), "effects", row, "abs(estimate)", "abs(expm1(estimate))")


def _effect(row: Row, prompt: str | None) -> str:
    name = label(row["model"]) + asked(prompt)
    told = "; ".join(filter(None, [apa(row), form(row)]))
    if pd.isna(row["estimate"]):
        return f"{name}: {row['note']}"
    verb = "rated" if is_standardised(row["response"]) else "read"
    p = row["p"] if pd.isna(row["p_adjusted"]) else row["p_adjusted"]
    if pd.isna(p) or p >= ALPHA:
        return f"{name}: the data do not show that grammaticality changes how sentences were {verb} ({told})."
    if verb == "rated":
        higher = "higher" if row["estimate"] > 0 else "lower"
        size = f"{abs(row['estimate']):.2f} standard deviations {higher}"
        return f"{name}: grammatical sentences were rated {size} than ungrammatical ones ({told})."
    change = math.expm1(row["estimate"])
    size = f"{percent(abs(change))} {'more' if change > 0 else 'less'} time{in_ms(row)}"
    return f"{name}: the critical region took {size} in grammatical than in ungrammatical sentences ({told})."


def in_ms(row: Row) -> str:
    """Return an effect in ms in brackets, nothing where there is none."""
    return f" ({told})" if (told := milliseconds(row)) else ""


def milliseconds(row: Row) -> str:
    """Return an effect in ms with its interval, nothing where there is none."""
    if pd.isna(row.get("ms", float("nan"))):
        return ""
    return f"{signed(row['ms'], 0)} ms, {interval(row['ms_low'], row['ms_high'], '.0f')}"


def effects(models: pd.DataFrame, response: str, prompts: Sequence[str | None] = ()) -> list[str]:
    """Return how many phenomena of a response differ after correction, then a sentence for each phenomenon.

    It tells the headline, that is the model with slopes wherever the data allow it, and then what the published form says, with
    intercepts alone. Prompts of ratings are named where there are several: in the table, or in `prompts`.
    """
    tested = models[models["response"] == response]
    single = []
    for prompt in prompts or list_prompts(tested):
        part = filter_prompt(tested, prompt)
        part = part[part["region"].isin(FIRST)]
        published = {row["model"]: row for row in list_rows(part[is_intercepts_form(part)])}
        for row in list_rows(part[part["headline"]]):
            beside = published.get(row["model"], {})
            again = as_published(beside)
            text = effect(row, prompt)
            single.append(
                read_off(Sentence(f"{text} {again[0].upper()}{again[1:]}.", text.sources), "effects", beside) if again else text
            )
    return [*counts(models, response, prompts), *single]


def as_published(row: Row | None) -> str:
    """Return what a model with intercepts alone says beside the headline; nothing where it says nothing."""
    return "" if not row or pd.isna(row["p"]) else f"{FORMS[INTERCEPTS]}: {significance(row)}"


def counts(models: pd.DataFrame, response: str, prompts: Sequence[str | None] = ()) -> list[str]:
    """Return how many phenomena of a response differ after correction, prompt by prompt, and over all prompts."""
    tested = models[models["response"] == response]
    counts = []
    prompts = prompts or list_prompts(tested)
    for prompt in prompts:
        part = filter_prompt(tested, prompt)
        if part["region"].isin(FIRST).any():
            counts += _counted(part[part["headline"]], part[is_intercepts_form(part)], response, prompt)
    if counts and len(prompts) > 1:
        first = tested[tested["headline"]]
        text = (
            f"Corrected over all {int(first['p'].notna().sum())} tests of the {len(prompts)} prompts together, "
            f"{int((first['p_adjusted_all'] < ALPHA).sum())} differences remain."
        )
        counts.append(read_off(text, "effects", first, TESTS, "distinct prompt", REMAINING))
    return counts


def _counted(models: pd.DataFrame, published: pd.DataFrame, response: str, prompt: str | None) -> list[str]:
    differing = {str(region): int((rows["p_adjusted"] < ALPHA).sum()) for region, rows in models.groupby("region", sort=True)}
    first = next(region for region in FIRST if region in differing)
    n = int((models["region"] == first).sum())
    subject = _name_response(response, prompt, " of the critical region")
    total = f"{n} phenomen{'on' if n == 1 else 'a'}"
    plain = published[published["region"] == first]
    again = f"; {FORMS[INTERCEPTS]}, in {int((plain['p_adjusted'] < ALPHA).sum())}" if len(plain) else ""
    text = f"{subject} differ between grammatical and ungrammatical sentences in {differing[first]} of {total} (p_BH < .05{again})."
    sentence = read_off(text, "effects", models[models["region"] == first], "count", DIFFERING)
    sentences: list[str] = [read_off(sentence, "effects", plain, DIFFERING)]
    later = [f"{count} at {region}" for region, count in differing.items() if region != first]
    if later:
        everywhere = int((models["p_adjusted_all"] < ALPHA).sum())
        tests = int(models["p"].notna().sum())
        of = (
            "regions up to words after it"
            if any(parse_region_name(r)[2] == CUMULATIVE_REGIONS for r in differing)
            else "words after the region"
        )
        sentence = read_off(
            f"Of the {of}, they differ in {' and '.join(later)}; corrected over all {tests} tests together, "
            f"{everywhere} differences remain.",
            "effects", models, TESTS, REMAINING,
        )  # fmt: skip
        for region, rows in models.groupby("region", sort=True):
            sentence = read_off(sentence, "effects", rows, DIFFERING) if region != first else sentence
        sentences.append(sentence)
    return sentences


def _name_response(response: str, prompt: str | None, region: str) -> str:
    """Return what was measured as a sentence begins with it: of reading times with the region, of others with the prompt."""
    noun = RESPONSES[response].noun
    return f"{noun[0].upper()}{noun[1:]}{region if RESPONSES[response].has_regions else asked(prompt)}"


def policy_effects(models: pd.DataFrame, steps: pd.DataFrame) -> list[str]:
    """Return what the policy did, what of it was singular or cross-checked, and each effect under the chosen model."""
    tested = models[models["contrast"].notna() | models["estimate"].isna()]
    if tested.empty:
        return []
    fitted = tested.dropna(subset="estimate")
    fits = int((steps["model_id"].isin(tested["model_id"]) & steps["optimizer"].notna()).sum())
    several = len(list_prompts(tested)) > 1
    text = f"Random effects by the policy {tested['policy'].iloc[0]}: {len(fitted)} of {len(tested)} models were fitted"
    text += f" in {fits} steps" if fits else ""
    singular = int(fitted["singular"].sum())
    text += f"; {singular} remained singular" if singular else "; none is singular"
    agreeing = crosschecked(fitted)
    text += f"; {agreeing} agree with the other engine to {AGREEING}" if agreeing else ""
    return [f"{text}.", *(_policy_effect(row, several) for row in list_rows(tested))]


def _policy_effect(row: Row, several: bool) -> str:
    where = asked(row["prompt"] if several else None) if row["region"] == SENTENCE_REGION else f" ({row['region']})"
    name = f"{label(row['model'])}{where}"
    if pd.isna(row["estimate"]):
        return f"{name}: {row['note']}"
    random = row["formula"].partition(" + (")[2]
    return f"{name}: {apa(row)}, with ({random}."


def ordinal(models: pd.DataFrame) -> list[str]:
    """Return the effects of cumulative-link models, on their latent scale; those of paradigms stay in their table."""
    sentences: list[str] = []
    several = len(list_prompts(models)) > 1
    for row in list_rows(models[models["unit"] != "paradigm"].dropna(subset="estimate")):
        name = f"{label(row['model'])}{asked(row['prompt'] if several else None)}: "
        verdict = "differ" if row["p"] < ALPHA else "are not shown to differ"
        text = f"{name}as ordered categories (probit), ratings {verdict} by {_predictor(row)} ({apa(row)})."
        sentences.append(read_off(text, "effects", row))
    return sentences


def _predictor(row: Row) -> str:
    return label(row["term"]) if pd.isna(row.get("contrast")) else term(row)


def power(models: pd.DataFrame, smallest: Sesoi) -> list[str]:
    """Return the range of minimum detectable effects, and how many reach the smallest effect of interest, if it is declared."""
    sentences: list[str] = []
    headlines = models[models["headline"]].dropna(subset="mde")
    for (response, region), family in headlines.groupby(["response", "region"], sort=True):
        for prompt in list_prompts(family):
            rows = filter_prompt(family, prompt)
            low, high = rows["mde"].min(), rows["mde"].max()
            subject = _name_response(str(response), prompt, f", {region}")
            text = (
                f"{subject}: with these standard errors, effects from {low:.3f} (best phenomenon) to {high:.3f} (worst) "
                f"{RESPONSES[str(response)].unit} would be found in 80% of repetitions"
            )
            values = ["min mde", "max mde"]
            least = find_sesoi(smallest, str(response), GRAMMATICALITY)
            if least is not None:
                reached = int((rows["mde"] <= least).sum())
                text += f"; the smallest effect of interest, {least:g}, is within reach in {reached} of {len(rows)}"
                values += [f"count mde <= {least:g}", "count"]
            sentences.append(read_off(f"{text}.", "effects", rows, *values))
    return sentences


def describe_power(power: pd.DataFrame) -> list[str]:
    """Return, for each coefficient, model and number of items, how many participants find it in four of five studies."""
    sentences: list[str] = []
    place = ["response", "family", "slopes", "assumptions", "term", "effect", "n_items"]
    for _, rows in power.groupby(place, sort=True):
        reached = rows[rows["power"] >= ENOUGH]
        best = reached.nsmallest(1, "n_participants") if len(reached) else rows.nlargest(1, "n_participants")
        row = list_rows(best)[0]
        sentences.append(
            f"{_subject(row)} is found by {row['n_participants']} participants with {row['n_items']} items in "
            f"{percent(row['power'])} of {row['n_simulations']} simulated studies "
            f"(95% Wilson interval {percent(row['power_low'])} to {percent(row['power_high'])}), "
            f"and in {percent(row['false_positives'])} of them where it is absent"
            f"{'' if len(reached) else '; more than these would be needed for 80%'}.{_caution(row)}"
        )
    return sentences


def _subject(row: Row) -> str:
    """Return which coefficient of which model a row of the table power is about, and under which spreads."""
    said = f"An effect of {coefficient(row['term'])} of {row['effect']:.3g} {RESPONSES[row['response']].simulated_unit}"
    model = f"{row['family']} model" if row["response"] == "rating" else ""
    spreads = {PILOT: "with the spreads of the pilot", UPPER: "with the upper 80% limits of the pilot's spreads"}
    also = [part for part in (model, spreads.get(row["assumptions"], "")) if part]
    return f"{', '.join([said, *also])}," if also else said


def _caution(row: Row) -> str:
    """Return what the random effects that are fitted do to a p."""
    if row["slopes"] != "none" or row["response"] == "chosen":
        return ""
    return " The model has no slopes, which there are in what is simulated, so its p is optimistic."


def residuals(models: pd.DataFrame, prompts: Sequence[str | None]) -> list[str]:
    """Return how far residuals of successive trials correlate, for each response and region, and each of several prompts."""
    several = len(prompts) > 1
    sentences: list[str] = []
    for row in list_rows(models.dropna(subset="autocorrelation").drop_duplicates(["response", "region", "prompt"])):
        place = [row["response"], row["region"], *([row["prompt"]] if several and not pd.isna(row["prompt"]) else [])]
        sentences.append(f"Residuals of successive trials correlate by {correlation(row['autocorrelation'])} ({', '.join(place)}).")
    return sentences
