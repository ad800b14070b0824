"""Validation: matches on openings that the tuning has not used, and the preset of a recommendation that passed."""
