"""A read-only view of a run, in the browser and in a terminal."""
