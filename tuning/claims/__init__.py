"""Claims of the literature, put to the test."""
