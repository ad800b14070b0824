"""Tests of a change by sequential tests, and their expected outcome."""
