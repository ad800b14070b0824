"""Ablation: comparisons between engine settings, played until each comparison has a verdict."""
