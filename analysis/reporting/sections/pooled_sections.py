"""The section on several experiments: what their effects come to together, and whether they differ."""

from functools import partial

from ...fitting.pooled_effects import POOLED
from ...prompts import build_file_suffixes, list_prompts
from ..exhibits import Exhibit, Page, Section, few
from ..figures import pooled_figures
from ..wording import labels, pooling

FOREST = (
    "{response}: effects in each experiment, with 95% intervals; squares as large as it weighs, hollow where "
    "it is left out. The diamond is the pooled effect with its interval, the line through it where that of a further experiment is "
    "expected; arrows stand where an interval goes on."
)
TABLE = (
    "Effects of each experiment, pooled (tau: standard deviation between experiments), and the differences between experiments in "
    "one model of all trials."
)
COLUMNS = (
    "model", "response", "region", "prompt", "term", "kind", "experiment", "estimate", "se", "df", "t", "p", "ci_low", "ci_high",
    "weight", "tau", "tau_low", "tau_high", "i_squared", "q", "q_df", "q_p", "prediction_low", "prediction_high", "note",
)  # fmt: skip


def experiments(page: Page) -> Section:
    """Return how the experiments of a study agree in their effects; nothing where it has one, or none alike."""
    table = page.get("pooled_effects")
    sentences = pooling.pooled_effects(table)
    exhibits: list[Exhibit] = []
    for response in dict.fromkeys(table.loc[table["kind"] == POOLED, "response"]):
        rows = table[table["response"] == response]
        for prompt, ending in build_file_suffixes(list_prompts(rows)).items():
            draw = partial(pooled_figures.forest_figure, rows, response, prompt)
            text = labels.under(prompt, FOREST.format(response=labels.response(response).capitalize()))
            exhibits += page.figure("pooled_effects", f"forest-{response}{ending}", text, draw)
    exhibits += page.table("pooled_effects", TABLE, table[[*COLUMNS]], aside=True)
    badges = page.badges("pooled_effects") if len(table) else ()
    return Section("Experiments compared", badges, sentences, exhibits, first=few(sentences))
