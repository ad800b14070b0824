"""The response model (Elo as a function of the parameters): its shape, its fit to results, and its maximum."""
