"""Reading times beside surprisal: aligned, tested, modelled, held out."""
