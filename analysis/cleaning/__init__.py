"""Who and what is left out, and by which rule."""
