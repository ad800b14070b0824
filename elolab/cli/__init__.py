"""The commands: one module each, named like its command."""
