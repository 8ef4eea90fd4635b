"""Programs that fit models: glmm, and R's lme4 in a process of its own; formulas in, estimates out."""
