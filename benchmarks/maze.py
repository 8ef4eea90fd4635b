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

ITEM_COUNT, WORD_COUNT, CANDIDATE_COUNT, SAMPLE_SIZE = 24, 12, 100, 400
NORM_SCALE = 6.0
EXACT_POSITIONS = 5  # places whose candidates are all scored exactly
GOAL_SECONDS = 30.0  # CPU-seconds


def main() -> None:
    """Print the times and what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path(tempfile.gettempdir()) / "gardenpath-benchmark-gpt2-small")
    parser.add_argument("--blimp", type=Path, default=ROOT.parent / "shared" / "data" / "blimp")
    arguments = parser.parse_args()
    import torch

    from gardenpath import lmscore
    from gardenpath.lmscore.maze.positions import find_positions
    from gardenpath.lmscore.maze.surprisals import SurprisalScorer
    from gardenpath.lmscore.maze.word_lists import load_wordfreq
    from gardenpath.lmscore.tokens.protocols import DEFAULT_PROTOCOL

    torch.set_num_threads(1)
    model = lmscore.load(make_model(arguments.model, arguments.blimp), device="cpu")
    with torch.no_grad():
        model.network.transformer.ln_f.weight.mul_(NORM_SCALE)
    materials = build_materials(model)
    lmscore.add_distractors(replace(materials, items=materials.items[:1]), model, candidates=5)  # warm

    start = time.process_time()
    result = lmscore.add_distractors(materials, model, candidates=CANDIDATE_COUNT)
    seconds = time.process_time() - start
    found = result.distractors["distractor"].notna()
    print(
        f"distractors for {len(found)} places of {ITEM_COUNT} items, {int(found.sum())} found: {seconds:.1f} CPU-s "
        f"(goal {GOAL_SECONDS:g})"
    )
    print(
        f"least margin {result.distractor_margins['margin'].min():.1f} bits, median "
        f"{result.distractor_margins['margin'].median():.1f}"
    )

    word_list, surprisals = load_wordfreq("en"), SurprisalScorer(model)
    positions = [position for item in materials.items for position in find_positions(item, DEFAULT_PROTOCOL)]
    exact_positions = positions[:: len(positions) // EXACT_POSITIONS][:EXACT_POSITIONS]
    words = {position: word_list.find_candidates(position, 1, 1.0, CANDIDATE_COUNT, 1, frozenset()) for position in exact_positions}
    forms = [
        (site, site.format_distractor(word)) for position in exact_positions for site in position.sites for word in words[position]
    ]
    start = time.process_time()
    surprisals.compute_surprisals(forms)
    exact_seconds = (time.process_time() - start) * len(positions) * 4 * CANDIDATE_COUNT / len(forms)
    print(f"all candidates exactly, from {len(forms)} of them: {exact_seconds:.0f} CPU-s")


def build_materials(model):  # type: ignore[no-untyped-def]
    """Return the items: at each place the most probable of so many words drawn, at two places each of the two most probable."""
    import torch

    from gardenpath.lmscore.maze.word_lists import load_wordfreq
    from gardenpath.stimuli import Item, Materials, Paradigm, Sentence

    random = Random("maze")
    tokenizer, words_listed = model.encoder.tokenizer, load_wordfreq("en").words
    paradigm = Paradigm("p", "f", {"a": ("a1", "a2"), "b": ("b1", "b2")})
    items = []
    for number in range(ITEM_COUNT):
        words: list[tuple[str, ...]] = []
        while len(words) < WORD_COUNT:
            sampled_words = random.sample(words_listed, SAMPLE_SIZE)
            text = " ".join(one[0] for one in words)
            ids = [model.encoder.prefix, *tokenizer(text, add_special_tokens=False)["input_ids"]]
            first_tokens = [tokenizer(f" {word}", add_special_tokens=False)["input_ids"] for word in sampled_words]
            with torch.no_grad():
                values = model.network(torch.tensor([ids])).logits[0, -1]
            ranked = sorted(range(SAMPLE_SIZE), key=lambda k: (len(first_tokens[k]), -float(values[first_tokens[k][0]])))
            words.append(tuple(sampled_words[k] for k in ranked[: 2 if len(words) in (4, 8) else 1]))
        sentences = {}
        for k, condition in enumerate(paradigm.list_conditions()):
            chosen = [one[(k // 2 if position == 4 else k % 2) % len(one)] for position, one in enumerate(words)]
            sentences[condition] = Sentence(" ".join(chosen).capitalize() + ".")
        items.append(Item(f"i{number}", "p", sentences))
    return Materials((paradigm,), tuple(items))


if __name__ == "__main__":
    main()
