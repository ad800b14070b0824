"""The response model: a hill and departures from it, its fit to what a study has seen, its maximum."""
