"""The tournament formats, one module each; ``arena.schedule`` lists them."""
