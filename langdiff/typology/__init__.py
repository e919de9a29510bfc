"""What makes a language hard: predictors, and tests of them against difficulties."""
