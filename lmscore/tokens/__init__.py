"""Text becomes tokens with their places in it, under a protocol; what a model says of them is a token table."""
