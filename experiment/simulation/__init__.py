"""Robots and language models take part in a study."""
