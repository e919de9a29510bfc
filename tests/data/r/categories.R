# F tests of WALS categories along Glottolog's tree, for tests/typology/association/test_levels.py:
#   Rscript categories.R MIELKE2019 GLOTTOLOG > categories.txt
# All branches have length 1, those above the roots included; families are joined at one root.
suppressMessages({library(ape); library(nlme)})
folder <- commandArgs(trailingOnly = TRUE)
table <- read.csv(file.path(folder[1], "wals_categories.csv"))
table <- table[table$in_iso_join == 1, ]
glottolog <- read.csv(gzfile(file.path(folder[2], "languages.csv.gz")))
lines <- grep("^ *tree ", readLines(gzfile(file.path(folder[2], "classification.nex.gz"))), value = TRUE)
newick <- sub(";\\s*$", "", sub("^[^=]*=\\s*(\\[&R\\])?\\s*", "", lines))
code <- glottolog$Glottocode[match(table$iso639_3, glottolog$ISO639P3code)]
wanted <- vapply(newick, function(text) any(vapply(unique(code), grepl, NA, x = text, fixed = TRUE)), NA)
newick <- newick[wanted]
isolates <- setdiff(unique(code), unlist(regmatches(newick, gregexpr("[a-z0-9]{4}[0-9]{4}", newick))))
tree <- read.tree(text = paste0("(", paste(c(newick, paste0(isolates, ":1")[length(isolates) > 0]), collapse = ","), ");"))
tree$edge.length[] <- 1
inner <- intersect(unique(code), tree$node.label)  # languages with dialects become leaves, too
for (name in inner) {
  tree <- bind.tree(tree, read.tree(text = paste0("(leaf_", name, ":1e-9);")), where = Ntip(tree) + match(name, tree$node.label))
}
tree$tip.label <- sub("^leaf_", "", tree$tip.label)
cat(R.version.string, "ape", format(packageVersion("ape")), "nlme", format(packageVersion("nlme")), "\n")
show <- function(feature, model, least) {
  rows <- table[table$feature == feature, ]
  rows <- rows[rows$value_name %in% names(which(table(rows$value_name) >= least)), ]
  rows <- data.frame(sp = code[match(rows$iso639_3, table$iso639_3)], c = factor(rows$value_name),
                     y = rows[[paste0("mean_log_difficulty_", model)]])
  rownames(rows) <- rows$sp
  pruned <- keep.tip(tree, rows$sp)
  V <- vcv(tree, corr = TRUE)[rows$sp, rows$sp]
  fit <- function(l, formula = y ~ c) {
    R <- l * V; diag(R) <- 1
    shape <- corSymm(R[lower.tri(R)], form = ~1, fixed = TRUE)
    gls(formula, data = rows, correlation = shape, method = "REML")
  }
  grid <- seq(0, 1 - 1e-6, length.out = 41)
  at <- grid[which.max(vapply(grid, function(l) as.numeric(logLik(fit(l))), 0))]
  best <- optimize(function(l) as.numeric(logLik(fit(l))), c(max(at - .025, 0), min(at + .025, 1 - 1e-6)), maximum = TRUE, tol = 1e-10)$maximum
  ends <- c(0, best, 1 - 1e-6)
  best <- ends[which.max(vapply(ends, function(l) as.numeric(logLik(fit(l))), 0))]
  found <- fit(best); test <- anova(found, type = "marginal")
  means <- summary(fit(best, y ~ c - 1))$tTable
  cat(sprintf("%s %s %d n %d lambda %.6f sigma %.6f logLik %.6f F %.6f %d %d p %.6f\n", feature, model, least, nrow(rows), best,
              found$sigma, as.numeric(logLik(found)), test[2, "F-value"], test[2, "numDF"], nrow(rows) - nlevels(rows$c), test[2, "p-value"]))
  cat(sprintf("  %s: %.6f %.6f\n", sub("^c", "", rownames(means)), means[, 1], means[, 2]), sep = "")
}
for (model in c("bpe", "char")) for (least in c(3, 5)) show("81A", model, least)
show("26A", "bpe", 1); show("26A", "bpe", 3); show("26A", "char", 3)
