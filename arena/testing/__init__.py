"""Tests of a change by sequential tests: the expected outcome of a test, and the bisection of commits."""
