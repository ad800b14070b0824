"""Statistics of match results, as pure functions."""
