"""The protocols of external programs: one module each. ``arena.players.registry`` lists them."""
