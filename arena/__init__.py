"""Matches between players: schedules, players, stored games and their evaluation; independent of any search."""

from elolab.engine.settings import FileKind, register

ARENA_FILES = register(
    FileKind(
        "tournaments", "tournament specification", "elolab tournament", ("players",), name="tournament",
        schema="elolab.arena.tournament_reader:TOURNAMENT",
    ),
    FileKind("", "file of engines", name="engines", schema="elolab.arena.keys.player:ENGINES"),
    FileKind("openings", "opening suite", suffixes=(".epd", ".epd.gz")),
)  # fmt: skip
"""Kinds of input files of matches: tournament specifications, engines files and opening suites."""
