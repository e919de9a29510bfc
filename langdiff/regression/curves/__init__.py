"""Difficulties at several sizes of training data, with errors that sizes share."""
