# The mixed models of this report in R, from the tables of results. Run it where the report lies:
#   Rscript {{ name }}
#       fits each model of the tables again by lme4{{ " and ordinal" if has_categories }}, and says how far the two are apart
{% if planned %}
#   Rscript {{ name }} plan [WORD ...]
#       names Bayesian models of the same effects, with formulas, families and priors; of those whose name has all these words
#   Rscript {{ name }} brms [WORD ...]
#       fits them by brms: a model takes a minute to compile, then some minutes to sample; those that are done are kept in the
#       folder report-brms
#   Rscript {{ name }} bayes-factors TERM [WORD ...]
#       Bayes factors of one term under several priors: four long runs of a model
# In a session of R:  asked <- c("brms", "critical"); source("{{ name }}")
{% endif %}
if (!exists("asked")) asked <- commandArgs(TRUE)
options(width = 180, max.print = 100000)

read <- function(file) {
  if (grepl("[.]parquet$", file)) return(as.data.frame(arrow::read_parquet(file)))
  rows <- read.csv(file, stringsAsFactors = FALSE, encoding = "UTF-8")
  # An apostrophe keeps spreadsheets from taking a text for a formula.
  rows[] <- lapply(rows, function(cells) if (is.character(cells)) sub("^'(?='*[=+@\\t\\r-])", "", cells, perl = TRUE) else cells)
  rows
}

# ---- The models, each with its estimates, the formula of the fit that was kept, and a function that returns its trials ----

{% if planned %}
plan <- read({{ planned.planned_models | r }})
fits <- read({{ planned.models | r }})
effects <- read({{ planned.effects | r }})
contrast_codes <- read({{ planned.contrast_codes | r }})  # the columns of a model's contrasts, in each condition that enters it
trials <- list(
{% for table, file in trials.items() %}
  {{ table }} = read({{ file | r }}){{ "," if not loop.last }}
{% endfor %}
)
table_of <- c({% for response, table in responses.items() %}{{ response }} = {{ table | r }}{{ ", " if not loop.last }}{% endfor %})  # that holds the trials of a response

is_empty <- function(cells) is.na(cells) | cells == ""

# Numeric predictors are centred, but for contrasts.
planned_trials <- function(one) {
  table <- table_of[[one$response]]
  rows <- trials[[table]]
  rows <- rows[switch(table, region_times = rows$region == one$region,
                      rating_scores = rows$role == "target" & !is.na(rows$z),
                      binary_responses = rows$measure == one$response), ]
  if (table == "binary_responses") rows[[one$response]] <- rows$response
  if (is.null(rows[[one$response]])) rows[[one$response]] <- rows$z  # another judgment, standardised
  if (!one$prompt %in% c("", "all")) rows <- rows[rows$prompt == one$prompt, ]
  codes <- contrast_codes[contrast_codes$unit == one$unit & contrast_codes$model == one$model & contrast_codes$response == one$response, ]
  cell <- function(table) paste(table$paradigm, table$condition, sep = "\r")
  is_between <- !is_empty(codes$level)
  between <- codes[is_between, ]
  codes <- codes[!is_between, ]
  rows <- rows[cell(rows) %in% cell(codes), ]
  rows$log_trial <- log1p(rows$trial)
  if (!is.null(rows$word)) rows$position <- rows$word
  contrasts <- setdiff(unique(codes$column), c(NA, ""))
  numbers <- setdiff(all.vars(as.formula(one$formula))[-1], c(contrasts, unique(between$column), groups_of(one$formula)))
  numbers <- Filter(function(name) is.numeric(rows[[name]]), numbers)
  # Trials of participants of whom a measure is not known are in no model.
  for (name in c(numbers, unique(between$factor))) rows <- rows[!is_empty(rows[[name]]), ]
  for (name in numbers) rows[[name]] <- rows[[name]] - mean(rows[[name]])
  for (name in contrasts) {
    by <- codes[codes$column == name, ]
    rows[[name]] <- by$code[match(cell(rows), cell(by))]
  }
  for (name in unique(between$column)) {
    by <- between[between$column == name, ]
    rows[[name]] <- by$code[match(as.character(rows[[by$factor[1]]]), as.character(by$level))]
  }
  rows
}

groups_of <- function(formula) unlist(regmatches(formula, gregexpr("[^|/: ]+(?=[^|()]*[)])", formula, perl = TRUE)))

planned_models <- function() lapply(plan$model_id, function(id) {
  one <- as.list(plan[plan$model_id == id, ])
  fit <- fits[fits$model_id == id & fits$kept, ]
  one[c("formula", "note")] <- fit[c("formula", "note")]
  if (is.na(one$prompt)) one$prompt <- ""
  terms <- effects[effects$model_id == id & effects$kind == "coefficient", ]
  c(one, list(table = "effects", terms = terms, headline = terms$headline[1], trials_of = planned_trials))
})

{% endif %}
{% if alignments %}
aligned <- read({{ aligned | r }})

alignment_models <- function(table, file, formula = NULL) {
  rows <- read(file)
  if (is.null(rows$term)) rows$term <- "surprisal_next"  # of alignment_check
  if (!is.null(formula)) rows$formula <- formula
  ids <- paste(rows$model, rows$protocol, sep = ", ")
  lapply(split(rows, factor(ids, unique(ids))), function(terms) {
    first <- as.list(terms[1, c("model", "protocol", "formula", "note")])
    read_words <- function(one) aligned[aligned$model == one$model & aligned$protocol == one$protocol, ]
    c(first, list(table = table, model_id = paste(first$model, first$protocol, sep = ", "), family = "gaussian", terms = terms, trials_of = read_words))
  })
}

{% endif %}
models <- c(
{% if planned %}
  planned_models(){{ "," if alignments }}
{% endif %}
{% for one in alignments %}
  alignment_models({{ one.table | r }}, {{ one.file | r }}{{ (", " ~ (one.formula | r)) if one.formula }}){{ "," if not loop.last }}
{% endfor %}
)
is_fitted <- vapply(models, function(one) any(!is.na(one$terms$estimate)), TRUE)
left_out <- c(
{% for line in left_out %}
  {{ line | r }}{{ "," if not loop.last }}
{% endfor %}
)

# ---- The same models again ----

# Where the first optimizer did not converge, the note names the one that did.
control_of <- function(note, control, usual, ...) {
  named <- regmatches(note, regexec("did not converge; ([^ ;:]+):?([^ ]*) did", note))[[1]]
  if (length(named) == 0) return(control(optimizer = usual, ...))
  control(optimizer = named[2], optCtrl = if (nzchar(named[3])) list(algorithm = named[3]) else list(), ...)
}

fitted_again <- function(one) {
  formula <- as.formula(one$formula)
  rows <- one$trials_of(one)
  switch(one$family,
    gaussian = suppressMessages(lmer(formula, data = rows, control = control_of(one$note, lmerControl, "nloptwrap"))),
    binomial = glmer(formula, data = rows, family = binomial(one$link), control = control_of(one$note, glmerControl, "bobyqa", tolPwrss = 1e-10)),
    cumulative = {
      rows[[one$response]] <- factor(rows[[one$response]], ordered = TRUE)
      ordinal::clmm(expandDoubleVerts(formula), data = rows, link = one$link)  # clmm knows no ||
    })
}

singular <- function(model) {
  if (!inherits(model, "clmm")) return(isSingular(model))
  any(vapply(ordinal::VarCorr(model), function(v) any(attr(v, "stddev") < 1e-4), TRUE))
}

# Whether lme4 found the peak: its own checks, of which a singular fit is no fault.
converged <- function(model) {
  if (inherits(model, "clmm")) return(model$optRes$convergence == 0)
  faults <- model@optinfo$conv$lme4$messages
  !any(grepl("failed to converge", faults))
}

# R may name the factors of a product in another order.
in_order <- function(terms) vapply(strsplit(terms, ":"), function(parts) paste(sort(parts), collapse = ":"), "")

# One row a model: apart is the largest difference between its estimates and those of the table, in standard errors.
again <- function(one) {
  row <- data.frame(table = one$table, model = one$model_id, n = NA, converged = NA, singular = NA, apart = NA, refused = "")
  tryCatch({
    model <- fitted_again(one)
    ours <- one$terms[!is.na(one$terms$estimate), ]
    theirs <- coef(summary(model))
    same <- match(in_order(ifelse(ours$term == "intercept", "(Intercept)", ours$term)), in_order(rownames(theirs)))
    row$n <- nrow(model.frame(model))
    row$converged <- converged(model)
    row$singular <- singular(model)
    row$apart <- signif(max(abs(ours$estimate - theirs[same, "Estimate"]) / theirs[same, "Std. Error"]), 2)
    row
  }, error = function(e) { row$refused <- conditionMessage(e); row })
}

unfitted <- function() {
  lacking <- table(vapply(models[!is_fitted], function(one) one$table, ""))
  if (length(lacking)) sprintf("%s: %d of its models, which could not be fitted; their notes say why", names(lacking), lacking)
}

if (length(asked) == 0) {
  suppressPackageStartupMessages(library(lmerTest))
  refits <- do.call(rbind, lapply(unname(models[is_fitted]), again))
  print(refits[names(refits) != "refused"])
  largest <- function(apart) if (any(!is.na(apart))) signif(max(apart, na.rm = TRUE), 2) else "not known"
  cat("\n", sum(!is.na(refits$apart)), " models fitted again; the largest difference is ", largest(refits$apart), " standard errors, and ",
      largest(refits$apart[!refits$singular & refits$converged]), " where R's fit converged and is not singular\n", sep = "")
  far <- which(refits$apart > 0.01)
  if (length(far)) cat("More than 0.01 apart, as where R did not converge, or the likelihood is flat or has several peaks and neither is the answer: rows ", paste(far, collapse = ", "), "\n", sep = "")
  refused <- which(nzchar(refits$refused))
  refused <- sprintf("%s, row %d above: %s", refits$table[refused], refused, refits$refused[refused])
  cat("\nNot fitted again:\n", paste0("  ", c(refused, unfitted(), left_out), "\n"), sep = "")
}
{% if planned %}
{% include "bayesian.R" %}
{% endif %}
