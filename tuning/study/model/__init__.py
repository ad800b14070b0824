"""The response model: one hill or two, the fit to a study's results, and the maximum."""
