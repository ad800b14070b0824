"""Pure functions from results to figures."""
