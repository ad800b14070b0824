"""Tests whether an engine follows its protocol: runs a table of checks on the engine's program.

``checks`` holds the checks, which are the same for all protocols. ``dialects`` holds the commands and answers of each
protocol. ``examination`` runs one check after another, and ``outcome_text`` formats the results.
"""
