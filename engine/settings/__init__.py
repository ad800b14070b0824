"""Settings: the table of parameters, presets, limits, weights, and the reading of their files."""
