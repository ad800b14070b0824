"""The commands about the engine alone."""
