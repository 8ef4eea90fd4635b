"""Kinds of language models: causal, masked, n-gram. Each turns texts into tokens, and tokens into tables of log-probabilities."""
