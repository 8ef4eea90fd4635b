# An R that has loaded what most R code of the tests loads, which takes longer than most of that code. It runs each file that
# a line of standard input names in a fork of its own, in the file's folder, as `Rscript --vanilla FILE` would, and answers with
# a line of standard output: "done", or what R said, its line ends as \n.
for (name in c("lmerTest", "ordinal")) suppressWarnings(requireNamespace(name, quietly = TRUE))
lines <- file("stdin", "r")
while (length(path <- readLines(lines, 1L, encoding = "UTF-8"))) {
  run <- parallel::mcparallel({
    setwd(dirname(path))
    sink(nullfile())
    # Its own scope is the global one, so that functions that look for data there find it.
    tryCatch({ source(basename(path), local = globalenv(), encoding = "UTF-8"); "done" }, error = conditionMessage)
  }, silent = TRUE)
  said <- parallel::mccollect(run)[[1L]]
  answer <- if (is.character(said)) said else "R ended without an answer"
  cat(gsub("\n", "\\n", answer, fixed = TRUE), "\n", sep = "")
  flush(stdout())
}
