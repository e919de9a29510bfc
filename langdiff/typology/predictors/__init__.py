"""Predictors of difficulty: one row per edition."""
