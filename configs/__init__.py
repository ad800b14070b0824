"""Shipped configurations, as package data: presets, tournaments, tuning runs, ablations and opening suites."""
