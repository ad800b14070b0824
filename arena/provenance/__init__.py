"""Provenance of games: digests of elolab's sources and of the players' files, and warnings about changes."""
