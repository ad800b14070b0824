"""Validation: matches on openings that the tuning never saw, and the preset of a recommendation that passed."""
