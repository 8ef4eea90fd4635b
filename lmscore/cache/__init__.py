"""What a model said of a text is kept on disk."""
