"""One search for every game: it knows positions only through the stubs of ``engine.games.contract``."""
