"""Plays matches: schedules, players, the store, and what is read from it. Knows nothing of how anyone searches."""

from elolab.engine.settings import FileKind, register

ARENA_FILES = register(
    FileKind(
        "tournaments", "tournament specification", "elolab tournament", ("players",), name="tournament",
        schema="elolab.arena.tournament_reader:TOURNAMENT",
    ),
    FileKind("", "file of engines", name="engines", schema="elolab.arena.keys.player:ENGINES"),
    FileKind("openings", "opening suite", suffixes=(".epd", ".epd.gz")),
)  # fmt: skip
"""The kinds of files that matches read."""
