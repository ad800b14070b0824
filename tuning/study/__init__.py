"""Tuning studies: rounds of games that improve parameters, then a playoff and a validation."""
