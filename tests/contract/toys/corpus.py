"""A corpus of one entry, as a reader of CONTRIBUTING.md writes it."""

from gardenpath.stimuli.formats.corpora import Corpus

CORPUS = Corpus("frisian-toy", ".jsonl", "fy", good="goed", bad="fout", phenomenon="ferskynsel", paradigm="paradigma", number="nr")
