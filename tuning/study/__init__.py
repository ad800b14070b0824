"""Tuning: a study of rounds of games, a playoff and a validation."""
