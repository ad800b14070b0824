"""Ablation: comparisons between settings until each has a verdict."""
