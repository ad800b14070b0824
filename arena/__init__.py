"""Engine matches: players, schedules, the play and storage of games, and statistics.

The package does not depend on elolab's own search: any engine with a supported protocol can play.
"""

from elolab.engine.settings import FileKind, register

ARENA_FILES = register(
    FileKind(
        "tournaments", "tournament specification", "elolab tournament", ("players",), name="tournament",
        schema="elolab.arena.tournament_reader:TOURNAMENT",
    ),
    FileKind("", "file of engines", name="engines", schema="elolab.arena.keys.player:ENGINES"),
    FileKind("openings", "opening suite", suffixes=(".epd", ".epd.gz")),
)  # fmt: skip
"""The kinds of input files that describe matches: tournament specifications, engines files and opening suites."""
