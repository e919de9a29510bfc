"""Numbers that say what counts as rounding, when a search ends and how much is computed at a time, with reasons."""

# differences that rounding alone makes
ROUNDING = 1e-12  # of numbers near 1 that few operations made: shares, probabilities, entropies, variances that cancel
ROUNDING_OF_MEANS = 1e-15  # of a number: what is left of a constant column without its mean
ROUNDING_OF_LIKELIHOODS = 1e-13  # relative, of a log-likelihood
ROUNDING_OF_EIGENVALUES = 1e-10  # share of the largest eigenvalue of a matrix, below which one is 0
ROUNDING_OF_SUMS = 1e-9  # of sums over rows or states; a cost on the edge of two bins belongs to the upper
ROUNDING_OF_INTEGRALS = 1e-7  # of a log-likelihood that is integrated over a grid
ROUNDING_OF_SINGLES = 1e-6  # nats: single precision of bits, figures of twelve digits, profiles and degrees of freedom

# where a search ends
TOLERANCE = 1e-4  # every parameter within about 1e-4 of its standard error
TOLERANCE_OF_ROOTS = 1e-12  # of ln λ, and of a Newton step of one convex problem
TOLERANCE_OF_STEPS = 1e-8  # a Newton step, in standard errors
TOLERANCE_OF_ROWS = 1e-13  # gain of log-likelihood over the number of rows, at which a search ends after that step
TOLERANCE_OF_SYMBOLS = 1e-9  # bits per symbol by which a step of EM must improve

# cells of a table that are computed at a time
CELLS_AT_A_TIME = 2**18  # 2 MB of numbers, which stay in the processor's cache
CELLS_WITH_TEMPORARIES = 2**15  # so that several temporaries stay in the cache, too
CELLS_WITH_NODES = 2**16  # each row brings nodes of quadrature
CELLS_OF_WINDOWS = 2**17  # bins of sizes, and windows around a kink
CELLS_WITH_DENSITIES = 2**12  # bounds the memory of a density, which needs hundreds of nodes per cell
CELLS_OF_PRODUCTS = 2**20  # products of pairs of rows
LEAST_EXPONENT = 1 / 3  # of the fall of noise with the size of treebanks; below, a plan would be a guess
