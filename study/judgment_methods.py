"""Methods by which language models judge sentences: what each asks, and how tables, figures and texts call it.

`lmscore.judging` asks; the column `method` of the table `judgments`, labels and analyses follow from this list.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class JudgmentMethod:
    """A method of judging: its name in tables and commands, what a score is, its label on axes and in sentences, its unit.

    `prompts` is the type of the templates it needs, "" where it needs none.
    """

    name: str
    meaning: str
    label: str
    unit: str = "nats"
    prompts: str = ""


# The nine of Ide et al. (2025, doi 10.18653/v1/2025.naacl-long.380), then those of BLiMP-NL (2025, doi 10.1162/COLI.a.00559).
JUDGMENT_METHODS: Mapping[str, JudgmentMethod] = {
    method.name: method
    for method in (
        JudgmentMethod("lp", "log-probability of the sentence", "LP"),
        JudgmentMethod("mean_lp", "lp / |s|", "MeanLP"),
        JudgmentMethod("pen_lp", "lp / ((5 + |s|) / 6) ^ 0.8", "PenLP"),
        JudgmentMethod(
            "template_lp", "log-probability of the template with the sentence in it", "in-template LP", prompts="single"
        ),
        JudgmentMethod("template_mean_lp", "template_lp / tokens of the whole string", "in-template MeanLP", prompts="single"),
        JudgmentMethod("template_pen_lp", "template_lp with the penalty of pen_lp", "in-template PenLP", prompts="single"),
        JudgmentMethod(
            "comparative",
            "log-probability of the template that calls this sentence A acceptable and the other, B, not",
            "in-template comparative LP",
            prompts="comparative",
        ),
        JudgmentMethod("ab", "log-probability of the label of the sentence, A or B", "A/B prompting", prompts="ab"),
        JudgmentMethod("yes_no", "P(yes) / (P(yes) + P(no))", "Yes/No probability", "probability", prompts="yes_no"),
        JudgmentMethod("choose", "log-probability of the label of the sentence, 1 or 2", "choice by prompt", prompts="choose"),
        JudgmentMethod(
            "choose_generated",
            "1 of the sentence named in the generated answer, 0 of the other",
            "generated choice",
            "share",
            "choose",
        ),
        JudgmentMethod("rate", "rating expected over the points of the scale", "rating by prompt", "points", "rate"),
        JudgmentMethod("rate_generated", "rating in the generated answer", "generated rating", "points", "rate"),
    )
}
