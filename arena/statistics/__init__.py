"""Statistics of results, as pure functions."""
