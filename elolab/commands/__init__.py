"""The commands on the command line itself."""
