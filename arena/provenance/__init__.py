"""Provenance of games: elolab's sources and the files of players, and warnings about them."""
