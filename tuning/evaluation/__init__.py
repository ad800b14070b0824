"""Weights of an evaluation, fitted to games of self-play."""
