"""The engine: plays; knows nothing of matches."""
