"""What a pilot study says of the spreads that power depends on: estimates, and how large they may well be."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from gardenpath.study import AnalysisSection, DataError
from gardenpath.study.config import parse_region_name
from gardenpath.study.responses import RESPONSES, is_standardised
from gardenpath.study.table_files import take_tables

from ..cleaning.exclusions import apply_study_exclusions
from ..engines.estimates import ModelEstimate, describe_term
from ..engines.formulas import Formula, RandomEffects
from ..measuring.ratings_and_times import compute_rating_scores, compute_region_times, select_rating_response
from ..prompts import list_prompts
from .mixed_models import columns_of, engine_named
from .policies import widest
from .simulated_trials import CHOSEN, CORRECT, GROUPS, LOG_RT, RATING, Assumptions, Layout, standard

PILOT, UPPER = "pilot", "pilot (80 % limits)"
LIMIT = 0.80
# In a model with correlations a variance of zero also shows as a small one with a correlation of 1, so what is below this share
# of the residual's s.d. counts as zero.
NOTHING = 0.01


@dataclass(frozen=True)
class Pilot:
    """Assumptions as a pilot estimates them, and with the upper limit of each spread; `notes` says what is not from the pilot."""

    estimated: Assumptions
    upper: Assumptions
    notes: tuple[str, ...]
    participants: int
    items: int


def pilot(
    tables: Mapping[str, pd.DataFrame],
    layout: Layout,
    paradigms: Sequence[str],
    *,
    response: str = LOG_RT,
    region: str = "critical",
    settings: AnalysisSection | None = None,
) -> Pilot:
    """Return the spreads of a response in the tables of `collect`: of the trials of these paradigms that `analyse` would keep.

    Tables without such trials, or too few of them, are a `DataError`.
    """
    settings = settings or AnalysisSection()
    return spreads_in(_rows(tables, paradigms, response, region, settings), layout, response, engine=settings.engine)


def spreads_in(rows: pd.DataFrame, layout: Layout, response: str = LOG_RT, *, engine: str = "glmm") -> Pilot:
    """Return the spreads of a response in trials with participant, item and condition, from one model with every slope that the
    design allows.

    Ratings have the spreads of a linear model over its residual s.d., and thresholds from the shares of their points. A
    spread that is estimated as zero (under a hundredth of the residual's) takes the default, and `notes` says so. The upper
    limits are one-sided 80 % limits (Kieser & Wassmer 1996, doi 10.1002/bimj.4710380806): of the residual variance by its
    chi-square distribution, of a variance over J units by that of all variance of their means or slopes, with J - 1 df, less
    their sampling error.
    """
    usual = standard(response)
    frame, formula = _coded(rows, layout, response)
    columns = columns_of(frame, formula)
    formula = widest(formula, columns)
    binary = response in (CORRECT, CHOSEN)
    estimated = engine_named(engine).estimate(columns, formula, "", "binomial" if binary else "gaussian")
    is_latent = response not in (LOG_RT, CORRECT, CHOSEN)
    scale = estimated.residual if is_latent else 1.0
    residual = _noise(frame[response]) if binary else estimated.residual / scale
    found = {(v.group, v.term): v.sd / scale for v in estimated.variances}
    notes, upper = [], {}
    for (group, term), sd in found.items():
        means = term == "1" and not layout.choice
        default = usual.intercept(group) if means else usual.slope(group, layout.terms[0] if layout.choice else term)
        limit = _limit(sd, residual, list(_information(frame, group, term)))
        if sd < NOTHING * residual:
            found[group, term], limit = default, max(default, limit)
            whose = f"the {describe_term(term)} by {group}"
            notes.append(f"pilot: the s.d. of {whose} is estimated as zero; the default, {default:g}, is taken")
        upper[group, term] = limit
    likely, highest = _assumed(usual, found, PILOT, layout), _assumed(usual, upper, UPPER, layout)
    if response == LOG_RT:
        limit = _residual_limit(estimated, frame, formula)
        likely, highest = replace(likely, residual=residual), replace(highest, residual=limit)
    if response == CORRECT:
        mean = float(estimated.coefficients.set_index("term")["estimate"]["intercept"])
        likely, highest = replace(likely, mean=mean), replace(highest, mean=mean)
    if response == RATING:
        likely, highest = (replace(one, mean=0.0, thresholds=_thresholds(rows["rating"], one)) for one in (likely, highest))
    return Pilot(likely, highest, tuple(notes), int(rows["participant"].nunique()), int(rows["item"].nunique()))


def _rows(
    tables: Mapping[str, pd.DataFrame], paradigms: Sequence[str], response: str, region: str, settings: AnalysisSection
) -> pd.DataFrame:
    """Return the trials of these paradigms with the response, as `analyse` measures it."""
    min_rt, max_rt = settings.rt_cutoffs
    [items] = take_tables(tables, "items")
    readings, responses, *_ = apply_study_exclusions(tables, settings)
    if response == LOG_RT:
        times = compute_region_times(
            readings,
            items,
            min_rt=min_rt,
            max_rt=max_rt,
            region=parse_region_name(region)[0],
            regions=settings.spillover_regions,
            after_error=settings.exclude.after_error,
        )
        rows = times[times["region"] == region]
    elif response == CORRECT:
        asked = responses[(responses["task"] == "question") & (responses["role"] == "target")].dropna(subset="correct")
        rows = asked.assign(correct=asked["correct"].astype("float64"))
    elif response == CHOSEN:
        chosen = responses[(responses["task"] == "choice") & (responses["role"] == "target")].dropna(subset="response")
        rows = chosen.assign(chosen=0.0)  # by which condition is chosen, once the layout is known
    else:
        scores = compute_rating_scores(responses, items)
        rows = select_rating_response(scores[scores["role"] == "target"], response)
        if is_standardised(response):  # what is simulated is what is standardised
            rows = rows.assign(**{response: rows[RESPONSES[response].raw]})
        rows = rows[rows["prompt"] == list_prompts(rows)[0]] if len(list_prompts(rows)) > 1 else rows
    rows = rows[rows["paradigm"].isin(paradigms)]
    if len(rows) == 0:
        raise DataError(f"no trial of {', '.join(paradigms)} has {response}; expected the tables of a pilot of this study")
    return rows


def _coded(rows: pd.DataFrame, layout: Layout, response: str) -> tuple[pd.DataFrame, Formula]:
    """Return the trials with the layout's numeric columns, and the model of all its terms with intercepts."""
    if layout.choice:
        [levels] = [layout.factors[name] for name in layout.factors if name not in layout.between]
        frame = rows[["participant", "item"]].astype(object).assign(chosen=(rows["response"] == levels[1]).astype("float64"))
        return frame, Formula(response, ("1",), tuple(RandomEffects(("1",), group) for group in GROUPS))
    index = dict(_conditions(layout))
    if unknown := sorted(set(rows["condition"]) - set(index)):
        raise DataError(f"condition {unknown[0]!r} of the pilot is not in the study; expected {', '.join(index)}")
    frame = rows[["participant", "item", response]].astype({"participant": object, "item": object})
    for column, (factor, codes) in layout.columns.items():
        k = list(layout.factors).index(factor)
        frame[column] = [codes[index[condition][k]] for condition in rows["condition"]]
    return frame, Formula(response, ("1", *layout.terms), tuple(RandomEffects(("1",), group) for group in GROUPS))


def _conditions(layout: Layout) -> Iterator[tuple[str, tuple[int, ...]]]:
    sizes = (range(len(levels)) for levels in layout.factors.values())
    for place in itertools.product(*sizes):
        names = (levels[k] for levels, k in zip(layout.factors.values(), place, strict=True))
        yield ".".join(names), place


def _information(frame: pd.DataFrame, group: str, term: str) -> Iterator[float]:
    """Yield for each unit what the sampling variance of its mean, or of its slope, divides the residual variance by."""
    for _, part in frame.groupby(group, sort=True):
        if term == "1":
            yield float(len(part))
            continue
        product = pd.Series(1.0, index=part.index)
        for name in term.split(":"):
            product = product * part[name]
        spread = float(((product - product.mean()) ** 2).sum())
        if spread > 0:
            yield spread


def _limit(sd: float, residual: float, information: Sequence[float]) -> float:
    """Return the upper limit of a standard deviation over units."""
    from scipy import stats

    sampling = residual**2 * sum(1 / each for each in information) / len(information)
    df = len(information) - 1
    total = (sd**2 + sampling) * df / stats.chi2.ppf(1 - LIMIT, df)
    return math.sqrt(max(total - sampling, 0.0))


def _residual_limit(estimated: ModelEstimate, frame: pd.DataFrame, formula: Formula) -> float:
    from scipy import stats

    spent = len(formula.fixed) + sum((frame[r.group].nunique() - 1) * len(r.terms) for r in formula.random)
    df = max(len(frame) - spent, 1)
    return estimated.residual * math.sqrt(df / float(stats.chi2.ppf(1 - LIMIT, df)))


def _assumed(usual: Assumptions, spreads: Mapping[tuple[str, str], float], name: str, layout: Layout) -> Assumptions:
    person, item = GROUPS

    def of(group: str, term: str) -> float:
        # Of a choice the intercept is the effect, and what differs between people is its slope.
        return spreads.get((group, "1" if layout.choice and term == layout.terms[0] else term), usual.slope(group, term))

    return replace(
        usual,
        participant=spreads.get((person, "1"), usual.participant),
        item=spreads.get((item, "1"), usual.item),
        slopes={term: (of(person, term), of(item, term)) for term in layout.terms},
        name=name,
    )


def _noise(answers: pd.Series) -> float:
    """Return the s.d. of an answer's working residual in log odds."""
    share = min(max(float(answers.mean()), 0.01), 0.99)
    return 1 / math.sqrt(share * (1 - share))


def _thresholds(ratings: pd.Series, spread: Assumptions) -> tuple[float, ...]:
    """Return where the points of a scale lie on the latent one, from the share of ratings up to each."""
    from scipy import stats

    points = sorted(ratings.unique())
    shares = [float((ratings <= point).mean()) for point in points[:-1]]
    varies = sum((a**2 + b**2) / 4 ** (1 + term.count(":")) for term, (a, b) in spread.slopes.items())
    total = math.sqrt(1 + spread.participant**2 + spread.item**2 + varies)
    return tuple(float(total * stats.norm.ppf(share)) for share in shares)
