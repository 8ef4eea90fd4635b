"""What a study tested, before what came out: of which terms, on which responses."""

from collections.abc import Iterable

import pandas as pd

from gardenpath.study.config import CUMULATIVE_REGIONS, parse_region_name
from gardenpath.study.responses import RESPONSES

from ...measuring.region_spans import SENTENCE_REGION
from ...row_dicts import list_rows
from .labels import label, listed
from .numbers import counted
from .sources import Sentence, read_off, sources_of
from .terms import terms

CRITICAL = "critical"
INTERCEPT = "intercept"
FEW = 4  # models that are named


def tested(factorial: pd.DataFrame, phenomena: pd.DataFrame) -> list[str]:
    """Return a sentence for each set of terms that models of the study's factors test, and one for grammaticality."""
    sentences: list[Sentence] = []
    of_models: dict[str, list[Sentence]] = {}  # the names of models by what they test
    stated = factorial[factorial["contrast"].notna()]
    alone = stated["term"] == INTERCEPT  # of choices: which member of a pair is preferred
    for name, rows in stated[~alone].groupby("model", sort=False):
        first = rows[(rows["random"] == rows["random"].iloc[0])].drop_duplicates("term")
        effects = terms(first)
        text = f"the effect{'s' if effects[1:] else ''} of {listed(effects)} on {responses(rows)}"
        of_models.setdefault(text, []).append(read_off(label(name), "effects", rows))
    for name, rows in stated[alone].groupby("model", sort=False):
        preferred = str(rows["contrast"].iloc[0]).partition(": ")[2]
        of_models.setdefault(f"the preference for {label(preferred)} in {responses(rows)}", []).append(
            read_off(label(name), "effects", rows)
        )
    several = len({name for names in of_models.values() for name in names}) > 1
    for text, names in of_models.items():
        where = (f"{listed(names)}: " if len(names) <= FEW else f"in {len(names)} models, ") if several else ""
        sources = [source for name in names for source in sources_of(name)]
        sentences.append(Sentence(f"{where}we tested {text}.", sources))
    grammatical = phenomena
    if len(grammatical):
        count = counted(grammatical["model"].nunique(), "phenomenon", "phenomena")
        text = f"we tested the effect of grammaticality (grammatical − ungrammatical) in {count} on {responses(grammatical)}."
        sentences.append(read_off(text, "effects", grammatical, "distinct model"))
    return [Sentence(sentence[0].upper() + sentence[1:], sentence.sources) for sentence in sentences]


def responses(models: pd.DataFrame) -> str:
    """Return on what models test effects: responses, and of reading times the regions.

    >>> rows = [("z", "sentence"), ("log_rt", "critical"), ("log_rt", "critical+1"), ("log_rt", "critical+2")]
    >>> responses(pd.DataFrame(rows, columns=["response", "region"]))
    'ratings and reading times of the critical region and the two words after it'
    """
    regions: dict[str, dict[str, None]] = {}
    for row in list_rows(models.drop_duplicates(["response", "region"])):
        name = RESPONSES[row["response"]].noun
        regions.setdefault(name, {})[row["region"]] = None
    return listed(name if SENTENCE_REGION in of else f"{name} of {describe_regions(of)}" for name, of in regions.items())


def describe_regions(regions: Iterable[str]) -> str:
    """Return regions in words, with the words after each.

    >>> describe_regions(["critical", "critical+1"]), describe_regions(["embedded_verb", "critical"])
    ('the critical region and the word after it', 'the embedded verb and the critical region')
    >>> describe_regions(["critical+1", "critical+2"]), describe_regions(["critical", "critical+2"])
    ('the first and second word after the critical region', 'the critical region and the second word after it')
    >>> describe_regions(["critical", "critical..+1", "critical..+2"])
    'the critical region, alone and up to the first and second word after it'
    """
    of: dict[str, list[int]] = {}
    cumulative = set()
    for region in regions:
        name, distance, kind = parse_region_name(region)
        of.setdefault(name, []).append(distance)
        cumulative |= {name} if distance and kind == CUMULATIVE_REGIONS else set()
    return listed(
        (_up_to if name in cumulative else _words)(f"the {'critical region' if name == CRITICAL else label(name)}", sorted(after))
        for name, after in of.items()
    )


def _up_to(name: str, after: list[int]) -> str:
    """Return a region and what goes from it up to words after it, by their distances; 0 is the region itself."""
    alone, distances = ", alone and" if after[0] == 0 else "", [distance for distance in after if distance]
    return f"{name}{alone} up to the {listed(map(_ordinal, distances))} word after it"


def _words(name: str, after: list[int]) -> str:
    """Return a region and words after it, by their distances; 0 is the region itself."""
    itself, distances = after[0] == 0, [distance for distance in after if distance]
    if not distances:
        return name
    if itself and distances == [*range(1, len(distances) + 1)]:
        number = {1: "the word", 2: "the two words", 3: "the three words"}
        return f"{name} and {number.get(len(distances), f'the {len(distances)} words')} after it"
    words = "word" if distances == [1] else f"{listed(map(_ordinal, distances))} word"
    return f"{name} and the {words} after it" if itself else f"the {words} after {name}"


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")
