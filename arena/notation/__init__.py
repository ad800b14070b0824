"""Readers and writers of games, openings and positions as text."""
