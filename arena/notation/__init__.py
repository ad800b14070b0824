"""Games, openings and positions as text."""
