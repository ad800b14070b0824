"""Tuning and ablation: choose which matches to play, without knowledge of search algorithms."""
