"""Tests of predictors against difficulties."""
