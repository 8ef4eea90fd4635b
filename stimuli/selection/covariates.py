"""What items are matched on: length, frequency, bigrams, surprisal of a part of the sentence, and columns of their own."""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gardenpath import study

from ..item_tables import measure_word_length, zipf
from ..items import Item, Materials
from ..norms import Norm, Norms, strip_word
from ..sentence_parts import WordPositions, find_part_words
from ..text_checks import find_usable_word_list

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("words", "letters", "zipf", "bigram", "surprisal")
MAX_FAULTS_SHOWN = 8  # so many faults are named; the rest is counted
BigramCounts = Mapping[tuple[str, str], int]


def compute_covariates(
    materials: Materials,
    names: Iterable[str],
    *,
    surprisal: "pd.DataFrame | None" = None,
    model: str | None = None,
    bigrams: BigramCounts | None = None,
    norms: Norms | None = None,
) -> "pd.DataFrame":
    """Return table `covariates`: the value of each covariate of each sentence, empty where there is none.

    A covariate is `MEASURE:PART` or the name of a column of items that holds numbers. Measures are words (their number), letters
    (of all words together), zipf (their mean), bigram (mean Zipf frequency of each word with the one before it, one added to
    every count: `count_bigrams`), surprisal (bits, of all words together; of the table that `score` writes, of `model` where it
    has several), and each of the `norms` (mean over the words that it has; `stimuli.read_norms`). Parts are sentence, a region,
    `before REGION` and `after REGION` (the word beside it), and `up to REGION` (all words before it).

    >>> from gardenpath import stimuli
    >>> sentence = stimuli.Sentence("The dogs bark.", (stimuli.Region("critical", 9, 14),))
    >>> item = stimuli.Item("i1", "verbs", {"plural": sentence}, extra={"cloze": "0.4"})
    >>> materials = stimuli.Materials((stimuli.Paradigm("verbs", "n", {"number": ("plural",)}),), (item,))
    >>> stimuli.compute_covariates(materials, ["letters:critical", "words:up to critical", "cloze"])["value"].tolist()
    [4.0, 2.0, 0.4]
    """
    import pandas as pd

    rows = []
    for name in dict.fromkeys(names):
        value = _build_measure(name, materials, surprisal, model, bigrams, norms or {})
        rows += [(item.id, condition, name, value(item, condition)) for item in materials.items for condition in item.sentences]
    columns = ["item", "condition", "covariate", "value"]
    return study.check(pd.DataFrame(rows, columns=columns), "covariates")


def find_missing_values(table: "pd.DataFrame") -> dict[str, str]:
    """Return the items that lack a value of a covariate, each with a sentence that says which."""
    empty = table[table["value"].isna()]
    of = {row["item"]: f"{row['condition']}, {row['covariate']}" for row in reversed(empty.to_dict("records"))}
    return {item: f"item {item} ({what}) has no value" for item, what in reversed(of.items())}


def _build_measure(
    name: str, materials: Materials, surprisal: "pd.DataFrame | None", model: str | None, bigrams: BigramCounts | None, norms: Norms
) -> Callable[[Item, str], float | None]:
    """Return the function that gives a covariate's value of an item in a condition."""
    measure, colon, part = name.partition(":")
    if not colon or measure not in {*MEASURES, *norms}:
        return _build_column_measure(name, materials, norms)
    _check_part(name, part, materials)

    def build_word_measure(of_words: Callable[[Item, str, WordPositions], float | None]) -> Callable[[Item, str], float | None]:
        def value(item: Item, condition: str) -> float | None:
            words = find_part_words(item.sentences[condition], part)
            return None if words is None else of_words(item, condition, words)

        return value

    if measure in norms:
        return build_word_measure(_build_norm_measure(norms[measure]))
    if measure == "words":
        return build_word_measure(lambda item, condition, words: float(len(words)))
    if measure == "surprisal":
        return build_word_measure(_build_surprisal_measure(surprisal, model))
    if measure == "bigram":
        if bigrams is None:
            raise study.DataError(f"covariate {name} needs bigrams: a corpus (text), or a table with first, second and count")
        return build_word_measure(_build_bigram_measure(bigrams))
    return build_word_measure(_count_letters if measure == "letters" else _compute_mean_zipf)


def _check_part(name: str, part: str, materials: Materials) -> None:
    """Raise `DataError` where no sentence has the part."""
    sentences = [sentence for item in materials.items for sentence in item.sentences.values()]
    if any(find_part_words(sentence, part) is not None for sentence in sentences):
        return
    regions = sorted({region.name for sentence in sentences for region in sentence.regions})
    raise study.DataError(
        f"covariate {name!r}: no sentence has the part {part!r}; expected sentence, a region "
        f"({', '.join(regions) or 'none is marked'}), "
        "before REGION, after REGION or up to REGION"
    )


def _build_column_measure(name: str, materials: Materials, norms: Norms) -> Callable[[Item, str], float | None]:
    """Return the function that reads a column of items as numbers."""
    known = sorted({_get_general_name(column, item) for item in materials.items for column in item.extra})
    if name not in known:
        raise study.DataError(
            f"covariate {name!r} is not known; expected MEASURE:PART ({', '.join([*MEASURES, *norms])}), such as "
            f"letters:critical, or a column "
            f"of items ({', '.join(known) or 'they have none'})"
        )
    faults = [
        f"item {item.id}: {column} is {cell!r}, expected a number"
        for item in materials.items
        for column, cell in item.extra.items()
        if _get_general_name(column, item) == name and cell.strip() and _parse_number(cell) is None
    ]
    if faults:
        raise study.DataError(shorten_faults(faults))
    return lambda item, condition: _parse_number(item.extra.get(f"{name} ({condition})", item.extra.get(name, "")))


def _get_general_name(column: str, item: Item) -> str:
    """Return the name of a column in which conditions differ, `plausibility` of `plausibility (a)`; of others their own."""
    return next((column.removesuffix(end) for c in item.sentences if column.endswith(end := f" ({c})")), column)


def _parse_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _count_letters(item: Item, condition: str, words: WordPositions) -> float | None:
    own = item.sentences[condition].list_words()
    return float(sum(measure_word_length(own[n].text) for n in words))


def _compute_mean_zipf(item: Item, condition: str, words: WordPositions) -> float | None:
    code, own = _find_list_code(item.language), item.sentences[condition].list_words()
    if code is None or not words:
        return None
    values = [zipf(own[n].text, code) for n in words]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


_find_list_code = functools.cache(find_usable_word_list)


def _build_norm_measure(norm: Norm) -> Callable[[Item, str, WordPositions], float | None]:
    """Return the function that takes the mean of a norm over words."""

    def value(item: Item, condition: str, words: WordPositions) -> float | None:
        own = item.sentences[condition].list_words()
        return norm.mean(own[n].text for n in words)

    return value


def _build_surprisal_measure(
    surprisal: "pd.DataFrame | None", model: str | None
) -> Callable[[Item, str, WordPositions], float | None]:
    """Return the function that adds the surprisal of words; a row of several words counts where all of them are asked for."""
    if surprisal is None:
        raise study.DataError(
            "a covariate surprisal:PART needs the table surprisal, which  gardenpath score  writes: name its folder as scores"
        )
    whose = surprisal[surprisal["model"] == model] if model is not None else surprisal
    found = sorted({(str(m), str(p)) for m, p in zip(whose["model"], whose["protocol"], strict=True)})
    if len(found) != 1:
        there = ", ".join(sorted({*surprisal["model"].astype(str)})) or "none"
        raise study.DataError(
            f"the table surprisal has {len(found)} models and protocols{f' of {model}' if model else ''}; expected "
            f"one: name it as model ({there})"
        )
    rows: dict[tuple[str, str], dict[int, tuple[int, float | None]]] = {}
    columns = ("item", "condition", "word", "n_words", "surprisal")
    for item, condition, word, count, bits in zip(*(whose[name] for name in columns), strict=True):
        known = None if bits is None or bits != bits else float(bits)
        rows.setdefault((str(item), str(condition)), {})[int(word)] = (int(count), known)

    def value(item: Item, condition: str, words: WordPositions) -> float | None:
        own, asked = rows.get((item.id, condition), {}), set(words)
        total, covered = 0.0, set[int]()
        for n in words:
            if n in covered:
                continue
            count, bits = own.get(n, (1, None))
            spanned = {*range(n, n + count)}
            if bits is None or not spanned <= asked:
                return None
            total, covered = total + bits, covered | spanned
        return total

    return value


def _fold_word(word: str) -> str:
    return strip_word(word).casefold()


def _build_bigram_measure(bigrams: BigramCounts) -> Callable[[Item, str, WordPositions], float | None]:
    total = sum(bigrams.values()) + len(bigrams)

    def value(item: Item, condition: str, words: WordPositions) -> float | None:
        own = [_fold_word(word.text) for word in item.sentences[condition].list_words()]
        pairs = [(own[n - 1], own[n]) for n in words if n > 0]
        if not pairs:
            return None
        return sum(math.log10((bigrams.get(pair, 0) + 1) / total * 1e9) for pair in pairs) / len(pairs)

    return value


def count_bigrams(path: str | Path) -> BigramCounts:
    """Return how often each two words stand side by side, from a corpus (a sentence a line) or a table with first, second and
    count.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".tsv"):
        lines = ([_fold_word(word) for word in line.split()] for line in study.files.read_text(path).splitlines())
        found = Counter(pair for words in lines for pair in itertools.pairwise(words))
        if not found:
            raise study.DataError(f"{path}: no two words side by side; expected a corpus, a sentence a line")
        return found
    table = study.table_files.read_csv(path, "\t" if suffix == ".tsv" else ",")
    if absent := [name for name in ("first", "second", "count") if name not in table]:
        raise study.DataError(
            f"{path}: no column {', '.join(absent)}; expected first, second and count, found {', '.join(map(str, table))}"
        )
    if table.empty:
        raise study.DataError(f"{path}: no rows; expected one for each two words")
    counts: Counter[tuple[str, str]] = Counter()
    for line, (first, second, count) in enumerate(zip(table["first"], table["second"], table["count"], strict=True), start=2):
        number = _parse_number(count)
        if number is None or number < 0:
            raise study.DataError(f"{path}, line {line}: count is {count!r}, expected a number")
        counts[_fold_word(first), _fold_word(second)] += int(number)
    return counts


def shorten_faults(faults: Sequence[str]) -> Iterator[str]:
    """Yield the first faults, and how many more there are."""
    yield from faults[:MAX_FAULTS_SHOWN]
    if len(faults) > MAX_FAULTS_SHOWN:
        yield f"and {len(faults) - MAX_FAULTS_SHOWN} more"
