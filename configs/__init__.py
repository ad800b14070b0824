"""Presets, tournaments, studies and openings that ship with elolab; the files are package data."""
