"""Tests of a change by sequential tests: their expected outcome, and bisections of commits."""
