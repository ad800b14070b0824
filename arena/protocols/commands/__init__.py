"""The command of the adapter."""
