"""Parts of sentences that covariates are taken of: the whole, a region, or the words before or after one."""

from collections.abc import Sequence

from .items import Sentence

SENTENCE = "sentence"
RELATIVE_PARTS = ("before", "after", "up to")  # a word beside a region, and all words before it
WordPositions = Sequence[int]


def find_part_words(sentence: Sentence, part: str) -> WordPositions | None:
    """Return the positions of the words of a part; None where the sentence lacks it.

    >>> from gardenpath.stimuli import Region
    >>> sentence = Sentence("The dogs bark loudly.", (Region("critical", 9, 13),))
    >>> find_part_words(sentence, "critical"), find_part_words(sentence, "after critical"), find_part_words(sentence, "before x")
    ([2], [3], None)
    """
    words = sentence.list_words()
    if part == SENTENCE:
        return [word.index for word in words]
    if part_words := [word.index for word in sentence.list_region_words(part)]:
        return part_words
    relation = next((one for one in RELATIVE_PARTS if part.startswith(f"{one} ")), None)
    part_words = [word.index for word in sentence.list_region_words(part.removeprefix(f"{relation} "))] if relation else []
    if not part_words:
        return None
    first, last = part_words[0], part_words[-1]
    if relation == "up to":
        return [*range(first)]
    neighbour = first - 1 if relation == "before" else last + 1
    return [neighbour] if 0 <= neighbour < len(words) else None
