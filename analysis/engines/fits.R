# What gardenpath asks of R beside pymer4's lmer and emmeans: of plain values, or a model.

rows_from <- function(path, numeric) {
  rows <- utils::read.csv(path, colClasses = "character", na.strings = character(), check.names = FALSE, encoding = "UTF-8")
  for (name in names(rows)) {
    rows[[name]] <- if (name %in% numeric) as.numeric(rows[[name]])
                    else factor(rows[[name]], levels = sort(unique(rows[[name]]), method = "radix"))
  }
  rows
}

installed <- function(packages) vapply(packages, function(name) nzchar(system.file(package = name)), logical(1))

# A function of a package, attached, or whatever else it has under this name; in the name a _ may stand for a dot.
part_of <- function(package, name) {
  suppressPackageStartupMessages(library(package, character.only = TRUE))
  space <- asNamespace(package)
  known <- if (exists(name, space, inherits = FALSE)) name
           else Find(function(one) chartr(".", "_", one) == name, ls(space, all.names = TRUE))
  get(known, space)
}

versions_of <- function(packages) {
  c(R = paste(R.version$major, R.version$minor, sep = "."),
    vapply(packages, function(name) as.character(utils::packageVersion(name)), character(1)))
}

optimized_by <- function(optimizer, control = lme4::lmerControl, ...) {
  parts <- strsplit(optimizer, ":", fixed = TRUE)[[1]]
  if (length(parts) == 1) control(optimizer = parts, ...)
  else control(optimizer = parts[1], optCtrl = list(algorithm = parts[2]), ...)
}

# By its default tolerance glmer stops some thousandths of an estimate and some hundredths of a standard error too early.
binomial_model <- function(formula, rows, optimizer) {
  lme4::glmer(formula, data = rows, family = stats::binomial,
              control = optimized_by(optimizer, lme4::glmerControl, tolPwrss = 1e-10))
}

described <- function(model) {
  fixed <- coef(summary(model))
  spread <- as.data.frame(lme4::VarCorr(model))
  single <- is.na(spread$var2) & spread$grp != "Residual"
  paired <- !is.na(spread$var2)
  tested <- methods::is(model, "lmerModLmerTest")  # glmer has no degrees of freedom
  list(
    term = rownames(fixed), estimate = fixed[, "Estimate"], se = fixed[, "Std. Error"],
    df = if (tested) fixed[, "df"],
    t = fixed[, ncol(fixed) - 1], p = fixed[, ncol(fixed)],
    dropped = names(attr(lme4::getME(model, "X"), "col.dropped")),
    group = spread$grp[single], effect = spread$var1[single], sd = spread$sdcor[single],
    correlated = spread$grp[paired], first = spread$var1[paired], second = spread$var2[paired], correlation = spread$sdcor[paired],
    residual = stats::sigma(model), parameters = length(lme4::getME(model, "theta")),
    criterion = -2 * as.numeric(stats::logLik(model)), singular = lme4::isSingular(model),
    code = model@optinfo$conv$opt, messages = unlist(model@optinfo$conv$lme4$messages),
    covariance = as.numeric(as.matrix(stats::vcov(model))),
    # For degrees of freedom of sums of coefficients: lmerTest's, of the deviance in theta and sigma.
    parameter_covariance = if (tested) as.numeric(model@vcov_varpar),
    gradients = if (tested) lapply(stats::setNames(model@Jac_list, seq_along(model@Jac_list)), as.numeric)
  )
}

cumulative <- function(path, numeric, formula, response, link) {
  rows <- rows_from(path, numeric)
  rows[[response]] <- factor(rows[[response]], levels = sort(unique(rows[[response]])), ordered = TRUE)
  warnings <- character()
  model <- withCallingHandlers(
    ordinal::clmm(stats::as.formula(formula), data = rows, link = link),
    warning = function(w) { warnings <<- c(warnings, conditionMessage(w)); invokeRestart("muffleWarning") }
  )
  fixed <- coef(summary(model))
  spread <- ordinal::VarCorr(model)  # one matrix a group
  deviations <- lapply(spread, function(v) attr(v, "stddev"))
  correlated <- Filter(function(v) nrow(v) > 1, spread)
  below <- lapply(correlated, function(v) which(lower.tri(v), arr.ind = TRUE))
  pairs <- function(side) as.character(unlist(Map(function(v, cells) rownames(v)[cells[, side]], correlated, below)))
  list(
    term = rownames(fixed), estimate = fixed[, "Estimate"], se = fixed[, "Std. Error"], thresholds = length(model$Theta),
    covariance = as.numeric(stats::vcov(model)[names(model$beta), names(model$beta)]),
    parameters = sum(vapply(spread, function(v) nrow(v) * (nrow(v) + 1) / 2, 1)),
    singular = any(vapply(spread, function(v) {
      any(attr(v, "stddev") < 1e-4) || (nrow(v) > 1 && min(eigen(attr(v, "correlation"))$values) < 1e-4)
    }, TRUE)),
    group = rep(names(deviations), lengths(deviations)), effect = unlist(lapply(deviations, names)),
    correlated = rep(names(below), vapply(below, nrow, 1L)), first = pairs("col"), second = pairs("row"),
    correlation = as.numeric(unlist(Map(function(v, cells) attr(v, "correlation")[cells], correlated, below))),
    sd = unlist(deviations), criterion = -2 * as.numeric(stats::logLik(model)),
    # 0 and 1: the gradient is small enough by ordinal's absolute, or only by its relative, criterion.
    converged = model$optRes$convergence == 0, warnings = warnings
  )
}

additive <- function(path, numeric, formula, start, rho) {
  rows <- rows_from(path, numeric)
  model <- mgcv::bam(
    stats::as.formula(formula), data = rows, discrete = TRUE, method = "fREML", rho = rho,
    AR.start = if (nzchar(start)) rows[[start]] == 1 else NULL
  )
  tables <- summary(model, re.test = FALSE)
  kept <- function(part, column) if (is.null(part)) numeric() else part[, column]
  list(
    term = c(rownames(tables$p.table), rownames(tables$s.table)),
    smooth = rep(c(FALSE, TRUE), c(NROW(tables$p.table), NROW(tables$s.table))),
    estimate = c(kept(tables$p.table, "Estimate"), rep(NA, NROW(tables$s.table))),
    se = c(kept(tables$p.table, "Std. Error"), rep(NA, NROW(tables$s.table))),
    edf = c(rep(1, NROW(tables$p.table)), kept(tables$s.table, "edf")),
    statistic = c(kept(tables$p.table, "t value"), kept(tables$s.table, "F")),
    p = c(kept(tables$p.table, "Pr(>|t|)"), kept(tables$s.table, "p-value")),
    deviance = tables$dev.expl, rho = rho, autocorrelation = lag_one(model, rows, start),
    curves = as.list(curves(model, rows))
  )
}

# What each smooth of one numeric predictor adds, at 50 points from its 1st to its 99th percentile.
curves <- function(model, rows) {
  drawn <- lapply(model$smooth, function(s) {
    if (length(s$term) > 1 || s$by != "NA" || !is.numeric(rows[[s$term]])) return(NULL)
    ends <- stats::quantile(rows[[s$term]], c(.01, .99))
    at <- rows[rep(1, 50), ]
    at[[s$term]] <- seq(ends[1], ends[2], length.out = 50)
    there <- stats::predict(model, at, type = "terms", terms = s$label, se.fit = TRUE, discrete = FALSE)
    data.frame(predictor = s$term, value = at[[s$term]], estimate = there$fit[, s$label], se = there$se.fit[, s$label])
  })
  do.call(rbind, drawn)
}

# The correlation of each residual with the one before it in the same series, after the model's own AR(1) correction.
lag_one <- function(model, rows, start) {
  residuals <- if (is.null(model$std.rsd)) stats::residuals(model) else model$std.rsd
  first <- if (nzchar(start)) rows[[start]] == 1 else seq_along(residuals) == 1
  after <- which(!first)
  stats::cor(residuals[after], residuals[after - 1])
}
