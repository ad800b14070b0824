"""Tests whether an engine follows its protocol: a table of demands, each tried on the program itself.

``checks`` holds the demands, the same for all protocols, and ``dialects`` the lines that each protocol has for them.
``examination`` tries one check after another, and ``outcome_text`` formats the results.
"""
