"""The keys of tournaments and players, each declared once; ``messages/*.toml`` explain them."""
