"""The search, shared by all games: it reaches positions only through the stubs of ``engine.games.contract``."""
