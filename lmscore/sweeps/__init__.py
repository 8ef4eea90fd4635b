"""Many models on many languages: planned, computed by workers, merged."""
