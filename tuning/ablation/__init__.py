"""Ablation: comparisons between settings, played until each has a verdict."""
