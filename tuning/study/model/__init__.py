"""What the response model is made of: a hill, and departures from it."""
