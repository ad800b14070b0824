"""Other people's programs from compiled code."""
