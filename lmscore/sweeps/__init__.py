"""Many models on many languages: cut into units, computed by workers, merged."""
