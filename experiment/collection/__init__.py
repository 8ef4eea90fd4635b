"""Data of our own and of other platforms become one set of tables."""
