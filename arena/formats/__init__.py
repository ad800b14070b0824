"""The formats of tournaments: one module each, listed in ``arena.schedule``."""
