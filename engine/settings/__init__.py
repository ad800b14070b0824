"""What can be set: the table of parameters, presets, limits and weights, and how their files are read."""
