"""Tests whether an engine follows its protocol: a table of demands, each tried on the program itself.

``checks`` holds what is tried, the same for all protocols; ``dialects`` what is said for it in each of them.
``examination`` tries one after another, and ``report`` tells what came of it.
"""
