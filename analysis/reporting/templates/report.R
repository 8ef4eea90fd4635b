# The mixed models of this report in R, from the tables of results. Run it where the report lies:
#   Rscript {{ name }}
#       fits each model of the tables again by lme4{{ " and ordinal" if "ordinal_models" in tables | map(attribute="name") }}, and says how far the two are apart
{% if bayesian %}
#   Rscript {{ name }} plan [WORD ...]
#       names Bayesian models of the same effects, with formulas, families and priors; of those whose name has all these words
#   Rscript {{ name }} brms [WORD ...]
#       fits them by brms: a model takes a minute to compile, then some minutes to sample; those that are done are kept in the
#       folder report-brms
#   Rscript {{ name }} bayes-factors TERM [WORD ...]
#       Bayes factors of one term under several priors: four long runs of a model
{% endif %}
{% if bayesian %}
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

# ---- The trials of a model ----
# `one` is a row of a table of models: what names the model, and its formula.

{% if trials %}
{% for table, file in trials.items() %}
{{ table }} <- read({{ file | r }})
{% endfor %}

trials_of <- function(one) {
  if (one$measure %in% c("log_rt", "rt")) return(region_times[region_times$region == one$region, ])
  if (is_binary(one)) {
    rows <- binary_responses[binary_responses$measure == one$measure, ]
    rows[[one$measure]] <- rows$response
  } else {
    rows <- rating_scores[rating_scores$role == "target" & !is.na(rating_scores$z), ]
  }
  if (one$prompt %in% c("", "all")) rows else rows[rows$prompt == one$prompt, ]
}

is_binary <- function(one) !is.null(one$measure) && one$measure %in% c("correct", "yes", "chosen")

# Numeric predictors are centred, but for contrasts.
centred <- function(rows, formula, contrasts) {
  rows$log_trial <- log1p(rows$trial)
  if (!is.null(rows$word)) rows$position <- rows$word
  for (name in setdiff(all.vars(as.formula(formula))[-1], c(contrasts, groups_of(formula)))) {
    if (is.numeric(rows[[name]])) rows[[name]] <- rows[[name]] - mean(rows[[name]])
  }
  rows
}

groups_of <- function(formula) unlist(regmatches(formula, gregexpr("[^|/: ]+(?=[^|()]*[)])", formula, perl = TRUE)))

{% endif %}
{% if pairs %}
pairs <- c({{ pairs | map("r") | join(", ") }})  # paradigms of grammatical and ungrammatical sentences

rows_of_pairs <- function(one) {
  rows <- trials_of(one)
  rows <- rows[rows$phenomenon == one$phenomenon & rows$paradigm %in% pairs, ]
  if (!is.null(one$paradigm) && nzchar(one$paradigm)) rows <- rows[rows$paradigm == one$paradigm, ]
  rows$grammaticality <- ifelse(rows$condition == "grammatical", 0.5, -0.5)
  centred(rows, one$formula, "grammaticality")
}

{% endif %}
{% if codes %}
contrast_codes <- read({{ codes | r }})  # the columns of a model's contrasts, in each condition that enters it

rows_of_factors <- function(one) {
  cell <- function(table) paste(table$paradigm, table$condition, sep = "\r")
  codes <- contrast_codes[contrast_codes$model == one$model & contrast_codes$measure == one$measure, ]
  rows <- trials_of(one)
  rows <- rows[cell(rows) %in% cell(codes), ]
  contrasts <- setdiff(unique(codes$column), NA)
  for (name in contrasts) {
    by <- codes[codes$column == name, ]
    rows[[name]] <- by$code[match(cell(rows), cell(by))]
  }
  centred(rows, one$formula, contrasts)
}

{% endif %}
{% if ratings %}
rows_of_ratings <- function(one) {
  one$measure <- "rating"
  if (nzchar(one$model)) rows_of_factors(one) else rows_of_pairs(one)
}

{% endif %}
{% if aligned %}
aligned <- read({{ aligned | r }})

read_words <- function(one) aligned[aligned$model == one$model & aligned$protocol == one$protocol, ]

{% endif %}
# ---- The tables of models: what names a model in each, and what holds its rows ----

tables <- list(
{% for table in tables %}
  list(name = {{ table.name | r }}, file = {{ table.file | r }}, rows = {{ table.rows }},
       keys = c({{ table["keys"] | map("r") | join(", ") }}){{ (", formula = " ~ (table.formula | r)) if table.formula }}){{ "," if not loop.last }}
{% endfor %}
)
left_out <- c(
{% for line in left_out %}
  {{ line | r }}{{ "," if not loop.last }}
{% endfor %}
)

# A list with the rows of each model.
models_of <- function(table) {
  rows <- read(table$file)
  if (is.null(rows$term)) rows$term <- "surprisal_next"  # of alignment_check
  if (!is.null(table$formula)) rows$formula <- table$formula
  for (key in table$keys) rows[[key]][is.na(rows[[key]])] <- ""  # what does not apply
  names <- do.call(paste, c(rows[table$keys], sep = "\r"))
  lapply(split(rows, factor(names, unique(names))), function(model) c(list(terms = model), as.list(model[1, c(table$keys, "formula")]),
                                                                      link = model$link[1]))
}

is_fitted <- function(one) any(!is.na(one$terms$estimate))

# ---- The same models again ----

# Where the first optimizer did not converge, the note names the one that did.
control_of <- function(note) {
  named <- regmatches(note, regexec("nloptwrap did not converge; ([^ ;:]+):?([^ ]*) did", note))[[1]]
  if (length(named) == 0) return(lmerControl())
  lmerControl(optimizer = named[2], optCtrl = if (nzchar(named[3])) list(algorithm = named[3]) else list())
}

fitted_again <- function(one, rows) {
  formula <- as.formula(one$formula)
  if (!is.null(one$link)) {
    rows$rating <- factor(rows$rating, ordered = TRUE)
    ordinal::clmm(formula, data = rows, link = one$link)
  } else if (is_binary(one)) {
    glmer(formula, data = rows, family = binomial, control = glmerControl(optimizer = "bobyqa", tolPwrss = 1e-10))
  } else {
    suppressMessages(lmer(formula, data = rows, control = control_of(one$terms$note[1])))
  }
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
again <- function(table) {
  do.call(rbind, lapply(Filter(is_fitted, models_of(table)), function(one) {
    row <- data.frame(table = table$name, one[table$keys], n = NA, converged = NA, singular = NA, apart = NA, refused = "")
    tryCatch({
      model <- fitted_again(one, table$rows(one))
      ours <- one$terms[!is.na(one$terms$estimate), ]
      theirs <- coef(summary(model))
      same <- match(in_order(ifelse(ours$term == "intercept", "(Intercept)", ours$term)), in_order(rownames(theirs)))
      row$n <- nrow(model.frame(model))
      row$converged <- converged(model)
      row$singular <- singular(model)
      row$apart <- signif(max(abs(ours$estimate - theirs[same, "Estimate"]) / theirs[same, "Std. Error"]), 2)
      row
    }, error = function(e) { row$refused <- conditionMessage(e); row })
  }))
}

rbind_all <- function(tables) {
  names <- unique(unlist(lapply(tables, names)))
  filled <- lapply(tables, function(table) { table[setdiff(names, names(table))] <- ""; table[names] })
  do.call(rbind, filled)
}

unfitted <- function(table) {
  lacking <- Filter(Negate(is_fitted), models_of(table))
  if (length(lacking)) sprintf("%s: %d of its models, which could not be fitted; its notes say why", table$name, length(lacking))
}

if (length(asked) == 0) {
  suppressPackageStartupMessages(library(lmerTest))
  refits <- rbind_all(lapply(tables, again))
  rownames(refits) <- NULL
  print(refits[names(refits) != "refused"])
  largest <- function(apart) if (any(!is.na(apart))) signif(max(apart, na.rm = TRUE), 2) else "not known"
  cat("\n", sum(!is.na(refits$apart)), " models fitted again; the largest difference is ", largest(refits$apart), " standard errors, and ",
      largest(refits$apart[!refits$singular & refits$converged]), " where R's fit converged and is not singular\n", sep = "")
  far <- which(refits$apart > 0.01)
  if (length(far)) cat("More than 0.01 apart, as where R did not converge, or the likelihood is flat or has several peaks and neither is the answer: rows ", paste(far, collapse = ", "), "\n", sep = "")
  refused <- which(nzchar(refits$refused))
  refused <- sprintf("%s, row %d above: %s", refits$table[refused], refused, refits$refused[refused])
  cat("\nNot fitted again:\n", paste0("  ", c(refused, unlist(lapply(tables, unfitted)), left_out), "\n"), sep = "")
}
{% if bayesian %}
{% include "bayesian.R" %}
{% endif %}
