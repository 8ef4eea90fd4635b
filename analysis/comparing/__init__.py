"""Language models on minimal pairs, beside each other and beside people."""
