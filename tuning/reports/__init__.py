"""Reports on tuning, ablations, claims and fits."""
