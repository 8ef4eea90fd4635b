
# ---- Bayesian models ----
# Priors are weakly informative: they let in what the field has found and more, but nothing absurd; how to choose them, and to
# check what they predict before data are seen, is told by Schad, Betancourt and Vasishth (2021, doi 10.1037/met0000275).
# Intercept is that at the mean of all predictors, for ratings each threshold; b are the fixed effects, all of them; sd are the
# standard deviations over participants and items, sigma that of a trial, both cut off at 0; lkj(2) holds the correlations of
# random effects away from -1 and 1.
priors <- list(
  # Reading times, log ms: 95 % of intercepts are from 57 to 2900 ms, of effects from 32 % faster to 48 % slower.
  lognormal = c(Intercept = "normal(6, 1)", b = "normal(0, 0.2)", sd = "normal(0, 0.3)", sigma = "normal(0, 0.5)", cor = "lkj(2)"),
  # Ratings as ordered categories, in s.d. of what lies behind them: 95 % of effects are below 2 s.d.
  cumulative = c(Intercept = "normal(0, 2)", b = "normal(0, 1)", sd = "normal(0, 1)", cor = "lkj(2)"),
  # Answers of two kinds, log odds: 95 % of intercepts are from 5 to 95 %, of effects below odds of 7 to 1.
  bernoulli = c(Intercept = "normal(0, 1.5)", b = "normal(0, 1)", sd = "normal(0, 1)", cor = "lkj(2)"),
  # Ratings without points, as by a slider, standardised within participant.
  gaussian = c(Intercept = "normal(0, 1)", b = "normal(0, 1)", sd = "normal(0, 0.5)", sigma = "normal(0, 1)", cor = "lkj(2)")
)
widths <- list(  # of the prior of the effect whose Bayes factor is asked for
  lognormal = c(0.025, 0.05, 0.1, 0.2), cumulative = c(0.25, 0.5, 1, 2), bernoulli = c(0.25, 0.5, 1, 2), gaussian = c(0.25, 0.5, 1, 2)
)
chains <- 4
iterations <- 4000  # of each chain, half of them warm-up
long_run <- 11000  # of each chain, for Bayes factors: 4 chains keep 22,000 draws
seed <- 1

family_of <- function(one, rows) {
  if (one$family == "binomial") return("bernoulli")
  if (table_of[[one$response]] == "region_times") return("lognormal")
  if (length(unique(rows$rating)) %in% 3:11) "cumulative" else "gaussian"
}

# The fixed effects are those of the table's model. Random effects are as declared; where nobody declared them, all slopes are in
# that the design allows, since priors keep a model with many of them from being singular.
formula_of <- function(one, rows, response) {
  formula <- sub("^[^~ ]+", response, one$formula)
  if (one$random == "declared") return(formula)
  fixed <- sub(" [+] [(].*", "", formula)
  effects <- Filter(function(term) !any(c("log_trial", "position") %in% strsplit(term, ":")[[1]]), labels(terms(as.formula(fixed))))
  varies <- function(term, group) {
    value <- Reduce(`*`, rows[strsplit(term, ":")[[1]]])
    any(tapply(value, rows[[group]], function(x) length(unique(x)) > 1))
  }
  groups <- vapply(c("participant", "item"), function(group) {
    sprintf("(%s | %s)", paste(c("1", Filter(function(term) varies(term, group), effects)), collapse = " + "), group)
  }, "")
  paste(c(fixed, groups), collapse = " + ")
}

specified <- function(one) {
  rows <- one$trials_of(one)
  family <- family_of(one, rows)
  response <- c(lognormal = "rt", cumulative = "rating", bernoulli = one$response, gaussian = "z")[[family]]
  if (family == "cumulative") rows$rating <- factor(rows$rating, ordered = TRUE)
  formula <- formula_of(one, rows, response)
  linked <- list(lognormal = lognormal(), cumulative = cumulative("probit"), bernoulli = bernoulli(), gaussian = gaussian())[[family]]
  list(label = one$label, rows = rows, family = family, linked = linked, formula = formula,
       parameters = get_prior(as.formula(formula), data = rows, family = linked))
}

prior_of <- function(model) {
  stated <- priors[[model$family]]
  stated <- stated[names(stated) %in% model$parameters$class]  # no correlations in a model without slopes
  do.call(c, lapply(names(stated), function(class) set_prior(stated[[class]], class = class)))
}

sampled <- function(model, prior, iterations, name) {
  dir.create("report-brms", showWarnings = FALSE)
  brm(as.formula(model$formula), data = model$rows, family = model$linked, prior = prior, chains = chains, iter = iterations,
      cores = min(chains, parallel::detectCores()), seed = seed, control = list(adapt_delta = 0.95), refresh = 0,
      file = file.path("report-brms", gsub("[^[:alnum:].]+", "-", name)), file_refit = "on_change")
}

told <- function(model, prior) {
  cat("\n", model$label, "\n  ", model$formula, "\n  family ", model$family, "\n", sep = "")
  for (k in seq_len(nrow(prior))) cat(sprintf("  prior %s%s ~ %s\n", prior$class[k], ifelse(nzchar(prior$coef[k]), paste0(" of ", prior$coef[k]), ""), prior$prior[k]))
}

bayesian <- function(model) {
  prior <- prior_of(model)
  told(model, prior)
  fit <- sampled(model, prior, iterations, model$label)
  effects <- summary(fit)$fixed
  print(signif(effects, 4))
  parameters <- nuts_params(fit)
  cat(sprintf("  R-hat at most %.3f, effective draws at least %.0f; %d divergent transitions\n", max(rhat(fit), na.rm = TRUE),
              min(effects$Bulk_ESS, effects$Tail_ESS), sum(parameters$Value[parameters$Parameter == "divergent__"])))
  type <- if (model$family %in% c("cumulative", "bernoulli")) "bars" else "dens_overlay"
  drawn <- pp_check(fit, type = type, ndraws = 50) + ggplot2::ggtitle(model$label)
  ggplot2::ggsave(sub("[.]rds$", ".png", fit$file), drawn, width = 6, height = 4, dpi = 150)
}

# Savage and Dickey: how much less likely 0 is once data are seen, the densities of prior and posterior at 0. The error is that of
# having so many draws and no more, by their batches in the order drawn.
savage_dickey <- function(draws, width, batches = 40) {
  at_zero <- dnorm(0, draws, bw.nrd0(draws) / 2)  # narrow: what it leaves is noise, which is told, more than bias, which is not
  batch <- rep(seq_len(batches), each = length(draws) %/% batches)
  error <- sd(tapply(at_zero[seq_along(batch)], batch, mean)) / sqrt(batches) / mean(at_zero)
  bf10 <- dnorm(0, 0, width) / mean(at_zero)
  data.frame(width, bf10, low = bf10 * exp(-1.96 * error), high = bf10 * exp(1.96 * error), error, draws = length(draws))
}

bayes_factors <- function(model, term) {
  parameters <- model$parameters[model$parameters$class == "b" & nzchar(model$parameters$coef), ]
  coefficient <- parameters$coef[in_order(parameters$coef) == in_order(term)]
  if (length(coefficient) == 0) stop("no term ", term, " in ", model$label, "; there are ", paste(parameters$coef, collapse = ", "))
  stated <- prior_of(model)
  others <- stated[stated$class != "b" | nrow(parameters) > 1, ]
  found <- lapply(widths[[model$family]], function(width) {
    prior <- c(others, set_prior(sprintf("normal(0, %g)", width), class = "b", coef = coefficient))
    fit <- sampled(model, prior, long_run, paste(model$label, term, width))
    savage_dickey(as.data.frame(fit)[[paste0("b_", coefficient)]], width)
  })
  told(model, others)
  cat("  Bayes factors of ", term, " against 0, and 95 % of their Monte Carlo error, by the width of its prior normal(0, width):\n", sep = "")
  print(signif(do.call(rbind, found), 3), row.names = FALSE)
  cat("  Above 1 they speak for an effect, below 1 against one. What they say depends on the prior: report them all.\n",
      "  Where error is above 0.1 there are too few draws near 0; see Schad et al. (2022, doi 10.1037/met0000472).\n", sep = "")
}

# Of several models of the same trials the headline, but of paradigms none: there are many.
bayesian_models <- function(words) {
  headlines <- Filter(function(one) isTRUE(one$headline) && one$unit != "paradigm" && one$family != "cumulative", models[is_fitted])
  found <- lapply(headlines, function(one) {
    parts <- unlist(one[c("unit", "model", "response", "region", "prompt")])
    c(one, list(label = paste(parts[nzchar(parts)], collapse = " ")))
  })
  labels <- vapply(found, function(one) one$label, "")
  chosen <- found[Reduce(`&`, lapply(words, grepl, labels, fixed = TRUE), rep(TRUE, length(labels)))]
  if (length(chosen) == 0) stop("no model is called so; there are:\n", paste0("  ", labels, "\n"))
  chosen
}

outlined <- function(model) {
  prior <- prior_of(model)
  told(model, prior)
  make_stancode(as.formula(model$formula), data = model$rows, family = model$linked, prior = prior)  # stops where brms does not take them
}

if (length(asked) > 0) {
  what <- asked[1]
  if (!what %in% c("plan", "brms", "bayes-factors")) stop("got ", what, "; expected plan, brms, bayes-factors, or nothing")
  if (what == "bayes-factors" && length(asked) < 2) stop("bayes-factors of which term? The tables have a column term")
  if (!requireNamespace("brms", quietly = TRUE)) stop("brms is not installed:  install.packages(\"brms\")  or, on Debian,  apt-get install r-cran-brms")
  suppressPackageStartupMessages(library(brms))
  rstan::rstan_options(auto_write = TRUE)  # models of the same form are compiled once
  # Debian's rstan does not find the headers of Boost, which are the system's there.
  if (!nzchar(rstan::rstan_options("boost_lib")) && dir.exists("/usr/include/boost")) rstan::rstan_options(boost_lib = "/usr/include")
  chosen <- lapply(bayesian_models(asked[-seq_len(1 + (what == "bayes-factors"))]), specified)
  cat(sprintf("%d models of %d forms; a form takes about a minute to compile, a model some minutes to sample\n",
              length(chosen), length(unique(vapply(chosen, function(model) paste(model$formula, model$family), "")))))
  do <- list(plan = outlined, brms = bayesian, "bayes-factors" = function(model) bayes_factors(model, asked[2]))[[what]]
  for (model in chosen) do(model)
}
