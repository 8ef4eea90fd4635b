"""Distractors for Maze: words beside the words of a sentence that do not go on with it, chosen by a language model."""
