"""Fits of a table with fixed or random sizes of intents, and their standard errors."""
