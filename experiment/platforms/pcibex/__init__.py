"""PCIbex and Ibex: a project out, results back."""
