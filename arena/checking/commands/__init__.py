"""The command of the examination."""
