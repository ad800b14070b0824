"""Tuning and ablation: decide which matches to play; knows nothing of how anyone searches."""
