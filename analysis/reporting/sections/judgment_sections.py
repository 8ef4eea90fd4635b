"""The section on language models asked to judge: methods, votes, and what their accuracy depends on."""

from functools import partial

from ...comparing.method_accuracy import METHOD_KEY
from ..exhibits import Exhibit, Page, Section, leading, split_constant_columns, without
from ..figures import judgment_figures
from ..wording import judgments as words
from ..wording import minimal_pairs

FEW = 3  # language models that have figures of their own
TABLES = {
    "method_accuracies": "Accuracy by method, template and phenomenon.",
    "ensembles": "Majority votes over several templates; the best on the test set is an oracle.",
    "method_comparisons": "Each method and vote against another on the same pairs, by a paired bootstrap.",
    "method_length_bias": "Leaning to shorter or longer members, by method.",
    "response_shares": "How often each answer was given.",
    "method_groups": "Accuracy by method at the levels of a grouping.",
    "method_differences": "One method less another, paradigm by paradigm.",
}


def judgments(page: Page) -> Section:
    """Return how right each way of asking a language model is, and what that depends on."""
    accuracies, groups = page.get("method_accuracies"), page.get("method_groups")
    caption = (
        "Accuracy by method, with one standard deviation over templates: how much the wording matters. "
        f"In accuracies {minimal_pairs.TIES}."
    )
    draw = partial(judgment_figures.method_figure, accuracies)
    exhibits = page.figure("method_accuracies", "methods", caption, draw)
    for number, (model, rows) in enumerate(list(accuracies.groupby("model", sort=False))[:FEW]):
        exhibits += _of_model(page, str(model), number, aside=number > 0 or len(rows[METHOD_KEY].drop_duplicates()) < 2)
    for number, (factor, rows) in enumerate(groups.groupby("factor", sort=False)):
        for place, model in enumerate(list(rows["model"].unique())[:FEW]):
            caption = f"{model}: accuracy by method and {factor}, mean over paradigms, with 95% intervals over these."
            draw = partial(judgment_figures.group_figure, groups, str(model), str(factor))
            exhibits += page.figure("method_groups", f"methods-groups-{number}-{place}", caption, draw, rows, aside=place > 0)
    caption = (
        "How being right goes along with tokens of the grammatical less the ungrammatical member (point-biserial correlation). "
        "Left of 0 a method is right rather where the grammatical member is shorter."
    )
    draw = partial(judgment_figures.length_figure, page.get("method_length_bias"))
    exhibits += page.figure("method_length_bias", "methods-length", caption, draw)
    caption = "One method less another by difference in tokens: a dot is a paradigm. Right of 0 the grammatical member is longer."
    draw = partial(judgment_figures.tradeoff_figure, page.get("method_differences"))
    exhibits += page.figure("method_differences", "methods-tradeoff", caption, draw)
    for name, caption in TABLES.items():
        rows, once = split_constant_columns(without(page.get(name), "note"), "model")
        exhibits += page.table(name, f"{caption.removesuffix('.')}{once}.", rows, limit=120, aside=True)
    compared = page.get("method_comparisons")
    head = [*words.method_accuracies(accuracies), *words.significant(compared)]
    sentences = [*head, *words.ensembles(page.get("ensembles")), *words.method_comparisons(compared)]
    sentences += [*words.groups(groups), *words.describe_response_shares(page.get("response_shares"))]
    sentences += words.length_bias(page.get("method_length_bias"))
    sentences += words.differences(page.get("method_differences"))
    badges = page.badges_of_first("method_accuracies")
    return Section("Language models asked to judge", badges, sentences, exhibits, first=leading(sentences, len(head)))


def _of_model(page: Page, model: str, number: int, *, aside: bool) -> list[Exhibit]:
    """Return the votes of one model, and its accuracies by phenomenon."""
    votes, accuracies = page.get("ensembles"), page.get("method_accuracies")
    caption = (
        f"{model}: majority votes over several templates, mean and range over all mixes of them. The best mix on the test set is "
        "an oracle: it is chosen on the pairs it is tested on."
    )
    draw = partial(judgment_figures.vote_figure, votes, model)
    own = votes[votes["model"] == model]
    exhibits = page.figure("ensembles", f"votes-{number}", caption, draw, own, aside=aside)
    caption = f"{model}: pairs won of each phenomenon, in percent, by method."
    draw = partial(judgment_figures.phenomenon_figure, accuracies, model)
    own = accuracies[accuracies["model"] == model]
    return exhibits + page.figure("method_accuracies", f"methods-phenomena-{number}", caption, draw, own, aside=aside)
