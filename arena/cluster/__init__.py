"""Plays games in chunks on other machines: on a cluster's workers, or on any ``concurrent.futures`` executor."""
