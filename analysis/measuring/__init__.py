"""What was measured: ratings standardised, reading times of regions, and how far raters agree."""
