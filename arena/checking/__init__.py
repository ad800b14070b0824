"""Tests whether an engine follows its protocol: a table of demands, each tested on the running program.

``checks`` holds the demands, which are the same for all protocols. ``dialects`` holds the lines that each protocol
uses. ``examination`` runs one check after another, and ``outcome_text`` formats the results.
"""
