"""Sentences about results, each fact worded once; the report, the manuscript and the commands arrange them."""
