"""The rounds of a study: their schedule under its budgets, their design, their games."""
