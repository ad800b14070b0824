"""The keys of players, and the file of engines; ``messages/*.toml`` explain all keys of the arena."""
