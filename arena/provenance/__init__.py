"""With what games are played, beside the engine: sources of elolab, files of players; and what to know of results."""
