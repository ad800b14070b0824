"""Ablation: comparisons between engine settings, played until each has a verdict or its maximum number of games."""
