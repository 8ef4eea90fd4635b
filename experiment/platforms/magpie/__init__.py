"""magpie: results back."""
