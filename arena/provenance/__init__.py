"""Provenance of games beside the engine: elolab's sources and the files of players, and warnings that follow."""
