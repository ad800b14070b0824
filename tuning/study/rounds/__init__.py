"""The rounds of a study: their schedule within the budget, their settings, and their games."""
