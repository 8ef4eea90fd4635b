"""CPU-seconds of distractors for 24 items in 4 conditions of 12 words, 100 candidates a place, on one thread in float32:

    python benchmarks/maze.py [--model FOLDER] [--blimp ../shared/data/blimp]

GPT-2-small's shape with seeded random weights, its last norm six times as large, so that distributions are about as uneven as a
trained model's (8 bits of entropy; a word drawn from the list costs about 24 bits). Sentences are of words that the model finds
probable; the conditions differ in two of them. Beside it, what scoring every candidate exactly would take, of a part of the places.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random

from lmscore_cpu import ROOT, make_model

ITEMS, WORDS, CANDIDATES, DRAWN = 24, 12, 100, 400
SHARPER = 6.0
PART = 5  # places whose candidates are all scored exactly
GOAL = 30.0  # CPU-seconds


def main() -> None:
    """Print the times and what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path(tempfile.gettempdir()) / "gardenpath-benchmark-gpt2-small")
    parser.add_argument("--blimp", type=Path, default=ROOT.parent / "shared" / "data" / "blimp")
    arguments = parser.parse_args()
    import torch

    from gardenpath import lmscore
    from gardenpath.lmscore.maze.places import places
    from gardenpath.lmscore.maze.surprisals import Surprisals
    from gardenpath.lmscore.maze.word_lists import of_wordfreq
    from gardenpath.lmscore.tokens.protocols import DEFAULT

    torch.set_num_threads(1)
    model = lmscore.load(make_model(arguments.model, arguments.blimp), device="cpu")
    with torch.no_grad():
        model.network.transformer.ln_f.weight.mul_(SHARPER)
    materials = made_materials(model)
    lmscore.add_distractors(replace(materials, items=materials.items[:1]), model, candidates=5)  # warm

    start = time.process_time()
    made = lmscore.add_distractors(materials, model, candidates=CANDIDATES)
    ours = time.process_time() - start
    found = made.distractors["distractor"].notna()
    print(
        f"distractors for {len(found)} places of {ITEMS} items, {int(found.sum())} found: {ours:.1f} CPU-s (goal {GOAL:g})"
    )
    print(
        f"least margin {made.distractor_margins['margin'].min():.1f} bits, median {made.distractor_margins['margin'].median():.1f}"
    )

    listed, asking = of_wordfreq("en"), Surprisals(model)
    everywhere = [place for item in materials.items for place in places(item, DEFAULT)]
    part = everywhere[:: len(everywhere) // PART][:PART]
    words = {place: listed.candidates(place, 1, 1.0, CANDIDATES, 1, frozenset()) for place in part}
    forms = [(site, site.dressed(word)) for place in part for site in place.sites for word in words[place]]
    start = time.process_time()
    asking.exact(forms)
    spent = (time.process_time() - start) * len(everywhere) * 4 * CANDIDATES / len(forms)
    print(f"all candidates exactly, from {len(forms)} of them: {spent:.0f} CPU-s")


def made_materials(model):  # type: ignore[no-untyped-def]
    """Return the items: at each place the most probable of so many words drawn, at two places each of the two most probable."""
    import torch

    from gardenpath.lmscore.maze.word_lists import of_wordfreq
    from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

    random = Random("maze")
    tokenizer, listed = model.encoder.tokenizer, of_wordfreq("en").words
    paradigm = Paradigm("p", "f", {"a": ("a1", "a2"), "b": ("b1", "b2")})
    items = []
    for number in range(ITEMS):
        words: list[tuple[str, ...]] = []
        while len(words) < WORDS:
            drawn = random.sample(listed, DRAWN)
            text = " ".join(one[0] for one in words)
            ids = [model.encoder.prefix, *tokenizer(text, add_special_tokens=False)["input_ids"]]
            first = [tokenizer(f" {word}", add_special_tokens=False)["input_ids"] for word in drawn]
            with torch.no_grad():
                values = model.network(torch.tensor([ids])).logits[0, -1]
            ranked = sorted(range(DRAWN), key=lambda k: (len(first[k]), -float(values[first[k][0]])))
            words.append(tuple(drawn[k] for k in ranked[: 2 if len(words) in (4, 8) else 1]))
        sentences = {}
        for k, condition in enumerate(paradigm.conditions()):
            chosen = [one[(k // 2 if place == 4 else k % 2) % len(one)] for place, one in enumerate(words)]
            sentences[condition] = Sentence(" ".join(chosen).capitalize() + ".")
        items.append(Item(f"i{number}", "p", sentences))
    return Materials((paradigm,), tuple(items))


if __name__ == "__main__":
    main()
