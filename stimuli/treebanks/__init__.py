"""Minimal pairs from treebanks: trees of Universal Dependencies, forms of UniMorph, and what agrees with what."""
