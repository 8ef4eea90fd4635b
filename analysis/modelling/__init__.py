"""Models of ratings and reading times: which there are, with which random effects and contrasts, and what they could find."""
