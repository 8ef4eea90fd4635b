"""Token tables become numbers of words, regions and sentences."""
