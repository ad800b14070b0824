"""Protocols for external programs: one module each, listed in ``arena.players.registry``."""
