"""Plays matches: schedules, players, the store, and what is read from it. Knows nothing of how anyone searches."""
