# Power of a 2 x 2 in a Latin square by a simulation that shares no code with gardenpath: base R draws, lme4 and lmerTest fit.
#
#   Rscript power_in_r.R RESPONSE PARTICIPANTS ITEMS FIRST LAST OUT.csv MEAN PARTICIPANT ITEM PARTICIPANT_SLOPE ITEM_SLOPE RESIDUAL A B AB
#
# A row a study: the p of both main effects and of the interaction. As the plan states it, correlations go first while a fit is
# singular, then slopes without variance, the interaction's before others. Studies that the file has are not run again.
suppressPackageStartupMessages({ library(lme4); library(lmerTest) })
arguments <- commandArgs(trailingOnly = TRUE)
response <- arguments[1]
out <- arguments[6]
n <- as.list(as.numeric(arguments[c(2:5, 7:15)]))
names(n) <- c("participants", "items", "first", "last", "mean", "participant", "item", "participant_slope", "item_slope", "residual", "a", "b", "ab")

draw <- function(seed) {
  set.seed(seed)
  rows <- expand.grid(participant = seq_len(n$participants), item = seq_len(n$items))
  cell <- (rows$participant + rows$item) %% 4
  rows$a <- ifelse(cell %/% 2 == 0, -0.5, 0.5)
  rows$b <- ifelse(cell %% 2 == 0, -0.5, 0.5)
  rows$ab <- rows$a * rows$b
  expected <- n$mean + n$a * rows$a + n$b * rows$b + n$ab * rows$ab
  expected <- expected + rnorm(n$participants, sd = n$participant)[rows$participant] + rnorm(n$items, sd = n$item)[rows$item]
  for (term in c("a", "b", "ab")) {
    slopes <- rnorm(n$participants, sd = n$participant_slope)[rows$participant] + rnorm(n$items, sd = n$item_slope)[rows$item]
    expected <- expected + slopes * rows[[term]]
  }
  rows$y <- if (response == "correct") rbinom(nrow(rows), 1, plogis(expected)) else expected + rnorm(nrow(rows), sd = n$residual)
  rows
}

fit <- function(rows, random) {
  formula <- as.formula(paste("y ~ a + b + ab +", random))
  quiet <- function(model) suppressMessages(suppressWarnings(model))
  if (response == "correct") quiet(glmer(formula, rows, family = binomial, control = glmerControl("bobyqa")))
  else quiet(lmer(formula, rows))
}

random_part <- function(slopes, bar) {
  paste(mapply(function(terms, group) paste0("(", paste(c("1", terms), collapse = " + "), if (length(terms)) bar else "|", group, ")"), slopes, names(slopes)), collapse = " + ")
}

reduced <- function(rows) {
  slopes <- list(participant = c("a", "b", "ab"), item = c("a", "b", "ab"))
  model <- fit(rows, random_part(slopes, "|"))
  bar <- "||"
  while (isSingular(model)) {
    model <- fit(rows, random_part(slopes, bar))
    spread <- as.data.frame(VarCorr(model))
    spread$group <- sub("\\.[0-9]+$", "", spread$grp)
    zero <- spread[spread$var1 %in% c("a", "b", "ab") & spread$sdcor < 1e-4 * sigma(model), ]
    if (nrow(zero) == 0) break
    worst <- zero[order(zero$var1 != "ab"), ][1, ]
    slopes[[worst$group]] <- setdiff(slopes[[worst$group]], worst$var1)
    model <- fit(rows, random_part(slopes, bar))
  }
  model
}

done <- if (file.exists(out)) read.csv(out)$seed else integer()
if (!length(done)) cat("seed,a,b,ab\n", file = out)
for (seed in setdiff(seq(n$first, n$last), done)) {
  p <- tryCatch(coef(summary(reduced(draw(seed))))[c("a", "b", "ab"), if (response == "correct") "Pr(>|z|)" else "Pr(>|t|)"],
                error = function(e) rep(NA, 3))
  cat(seed, ",", paste(p, collapse = ","), "\n", file = out, append = TRUE, sep = "")
}
