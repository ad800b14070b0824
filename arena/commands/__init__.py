"""The commands that play and read games."""
