"""The search, shared by all games. It accesses positions only through the functions of ``engine.games.contract``."""
