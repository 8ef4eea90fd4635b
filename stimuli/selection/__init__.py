"""Items chosen of a pool, and dealt to lists, so that their covariates are alike."""
