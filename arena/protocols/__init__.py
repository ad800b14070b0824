"""What the arena says to programs of other people: a module a protocol, listed in ``arena.players.registry``."""
