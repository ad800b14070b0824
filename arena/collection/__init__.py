"""Runs as a collection: what there is below a folder, how two of them differ, and removing them."""
