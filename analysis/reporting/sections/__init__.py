"""The sections of the report, by subject."""
