"""Other platforms: a folder each, with what goes out and what comes back."""
